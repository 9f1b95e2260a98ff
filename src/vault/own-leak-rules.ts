// Token formats the preset does not know: a public prefix, and what follows it. Facts from the providers' documents; each
// row is one line so that a new format is one more. A rule is asked only where one of its keywords stands.

export interface OwnRule {
  readonly id: string;
  readonly expression: RegExp;
  /** What must stand in the text, and how many token characters must follow at once. */
  readonly keywords: readonly (readonly [text: string, tail: number])[];
  /** Whether a match is a placeholder after all. */
  readonly harmless?: (match: string) => boolean;
}

/** A prefix and a body of at least so many characters, neither in the middle of a longer word. */
function token(id: string, body: string, tail: number, ...prefixes: string[]): OwnRule {
  const names = prefixes.map((prefix) => prefix.replace(/[.$]/g, "\\$&")).join("|");
  const expression = new RegExp(`(?<![A-Za-z0-9_])(?:${names})${body}{${tail},}`, "g");
  return { id, expression, keywords: prefixes.map((prefix) => [prefix, tail]) };
}

const WORD = "[A-Za-z0-9_-]";
const HEX = "[0-9a-f]";

const TOKENS: readonly OwnRule[] = [
  token("pypi", WORD, 50, "pypi-AgEIcHlwaS5vcmc", "pypi-AgENdGVzdC5weXBpLm9yZ"),
  token("digitalocean", HEX, 64, "dop_v1_", "doo_v1_", "dor_v1_"),
  token("heroku", WORD, 36, "HRKU-"),
  token(
    "gitlab-kinds",
    WORD,
    20,
    "glptt-",
    "gldt-",
    "glrt-",
    "glcbt-",
    "glft-",
    "glsoat-",
    "glimt-",
    "glagent-",
    "gloas-",
  ),
  token("gitlab-kinds-runner", WORD, 20, "GR1348941"),
  token("anthropic-kinds", WORD, 80, "sk-ant-admin01-", "sk-ant-oat01-", "sk-ant-sid01-"),
  token("openai-kinds", WORD, 40, "sk-proj-", "sk-svcacct-", "sk-admin-"),
  token("openrouter", HEX, 64, "sk-or-v1-"),
  token("google-oauth", WORD, 28, "GOCSPX-"),
  token("google-access", "[A-Za-z0-9_.-]", 40, "ya29."),
  token("rubygems", HEX, 48, "rubygems_"),
  token("doppler", "[A-Za-z0-9]", 40, "dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."),
  token("linear-oauth", "[A-Za-z0-9]", 32, "lin_oauth_"),
  token("notion-secret", "[A-Za-z0-9]", 43, "secret_"),
  token("square", WORD, 22, "sq0atp-", "sq0csp-", "sq0idp-"),
  token("slack-kinds", "[A-Za-z0-9%.-]", 20, "xoxe.xoxp-", "xoxe-", "xoxs-", "xoxc-", "xoxd-"),
  token("stripe-webhook", "[A-Za-z0-9+/]", 32, "whsec_"),
  token("sentry", "[A-Za-z0-9_=+/-]", 40, "sntrys_", "sntryu_"),
  token("new-relic", "[A-Z0-9]", 27, "NRAK-"),
  token("postman", "[0-9a-f-]", 50, "PMAK-"),
  token("planetscale", "[A-Za-z0-9_.=-]", 32, "pscale_tkn_", "pscale_pw_", "pscale_oauth_"),
  token("supabase", "[A-Za-z0-9_-]", 30, "sbp_", "sb_secret_"),
  token("netlify", "[A-Za-z0-9]", 36, "nfp_"),
  token("fly", "[A-Za-z0-9+/=_-]", 40, "fo1_", "fm1r_", "fm2_"),
  token("render", "[A-Za-z0-9]", 28, "rnd_"),
  token("circleci", WORD, 40, "CCIPAT_", "CCIPRJ_"),
  token("buildkite", HEX, 40, "bkua_"),
  token("atlassian", "[A-Za-z0-9_=-]", 60, "ATATT3xFfGF0", "ATCTT3xFfGF0"),
  token("bitbucket", "[A-Za-z0-9]", 28, "ATBB"),
  token("contentful", WORD, 40, "CFPAT-"),
  token("dynatrace", "[A-Z0-9.]", 80, "dt0c01.", "dt0s01.", "dt0s16."),
  token("easypost", "[A-Za-z0-9]", 54, "EZAK", "EZTK"),
  token("brevo", "[0-9a-zA-Z-]", 64, "xkeysib-", "xsmtpsib-"),
  token("shippo", HEX, 40, "shippo_live_", "shippo_test_"),
  token("pulumi", HEX, 40, "pul-"),
  token("prefect", "[A-Za-z0-9]", 36, "pnu_"),
  token("replicate", "[A-Za-z0-9]", 37, "r8_"),
  token("perplexity", "[A-Za-z0-9]", 40, "pplx-"),
  token("xai", "[A-Za-z0-9]", 70, "xai-"),
  token("langsmith", "[0-9a-f_]", 32, "lsv2_pt_", "lsv2_sk_"),
  token("pinecone", "[A-Za-z0-9_]", 50, "pcsk_"),
  token("typeform", "[A-Za-z0-9_.=-]", 40, "tfp_"),
  token("alibaba", "[A-Za-z0-9]", 16, "LTAI"),
  token("tencent", "[A-Za-z0-9]", 32, "AKID"),
  token("hubspot", "[0-9a-f-]", 36, "pat-na1-", "pat-na2-", "pat-eu1-"),
  token("jfrog", "[A-Za-z0-9]", 60, "AKCp"),
  token("jfrog-reference", "[A-Za-z0-9]", 50, "cmVmdGtuO"),
  token("sonarqube", HEX, 40, "sqp_", "squ_", "sqa_"),
  token("sourcegraph", "[0-9a-f_]", 40, "sgp_"),
  token("amazon-mws", "[0-9a-f-]", 36, "amzn.mws."),
  token("aws-bedrock", "[A-Za-z0-9+/=]", 100, "ABSK"),
  token("plaid", "[0-9a-f-]", 36, "access-production-", "access-sandbox-", "access-development-"),
  token("mapbox", "[A-Za-z0-9_.-]", 60, "sk.eyJ"),
  token("flutterwave", "[0-9a-zA-Z-]", 12, "FLWSECK_TEST-", "FLWSECK-"),
  token("firebase", WORD, 130, ":APA91b"),
  token("nuget", "[a-z0-9]", 43, "oy2"),
];

const PLACEHOLDER =
  /^(?:[$<{%*x.]|pass|pwd|secret|user|guest|admin|change|your|example|test|dummy|foo|hunter|root|redis)/i;

function rule(id: string, expression: RegExp, keywords: OwnRule["keywords"], harmless?: OwnRule["harmless"]): OwnRule {
  return { id, expression, keywords, ...(harmless === undefined ? {} : { harmless }) };
}

const BROKERS = [
  "redis",
  "rediss",
  "amqp",
  "amqps",
  "mssql",
  "sqlserver",
  "clickhouse",
  "nats",
  "kafka",
  "mariadb",
  "smtp",
  "smtps",
  "cloudinary",

  "mqtt",
  "mqtts",
  "ldap",
  "ldaps",
  "ftp",
  "sftp",
];

const SHAPES: readonly OwnRule[] = [
  rule(
    // Takes the place of the preset's, which knows fewer kinds.
    "privatekey",
    /-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr])*(?:[A-Za-z-]+: [^\n]*\s+)*(?:[A-Za-z0-9+/=]|\s|\\[nr]){40,}/g,
    [],
  ),
  rule("putty-key", /PuTTY-User-Key-File-[23]: [a-z0-9-]+/g, [["PuTTY-User-Key-File-", 1]]),
  rule("azure-storage", /AccountKey=[A-Za-z0-9+/]{86}==/g, [["AccountKey=", 88]]),
  rule("azure-shared-access", /SharedAccessKey=[A-Za-z0-9+/]{43}=/g, [["SharedAccessKey=", 44]]),
  rule("azure-signature", /[?&]sv=\d{4}-\d\d-\d\d[^\s"'<>]{0,400}&sig=[A-Za-z0-9%+/]{43,}/g, [["&sig=", 43]]),
  rule("azure-client-secret", /(?<![\w~.-])[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}(?![\w~-])/g, [
    ["8Q~", 31],
    ["7Q~", 31],
  ]),
  rule("telegram", /(?<![\w:])\d{8,10}:AA[A-Za-z0-9_-]{33}(?![\w-])/g, [[":AA", 33]]),
  rule("discord-webhook", /discord(?:app)?\.com\/api\/webhooks\/\d{17,20}\/[\w-]{60,}/g, [[".com/api/webhooks/", 17]]),
  rule("slack-hook", /hooks\.slack\.com\/(?:workflows|triggers)\/[\w/]{20,}/g, [
    ["hooks.slack.com/workflows/", 20],
    ["hooks.slack.com/triggers/", 20],
  ]),
  rule("teams-hook", /\.webhook\.office\.com\/webhookb2\/[0-9a-f-]{36}@[\w/-]{40,}/g, [
    [".webhook.office.com/webhookb2/", 36],
  ]),
  rule("zapier-hook", /hooks\.zapier\.com\/hooks\/catch\/\d{5,}\/\w{6,}/g, [["hooks.zapier.com/hooks/catch/", 6]]),
  rule("google-refresh", /(?<![\w/])1\/\/0[A-Za-z0-9_-]{40,}/g, [["1//0", 40]]),
  rule("twilio", /["'= :]SK[0-9a-f]{32}(?![A-Za-z0-9])/g, [
    ['"SK', 32],
    ["'SK", 32],
    ["=SK", 32],
    [" SK", 32],
    [":SK", 32],
  ]),
  rule("mailgun", /(?<![\w-])key-[0-9a-f]{32}(?![0-9A-Za-z])/g, [["key-", 32]]),
  rule(
    "mailchimp",
    /(?<![0-9A-Za-z])[0-9a-f]{32}-us\d{1,2}(?!\d)/g,
    ["1", "2", "3", "4", "5", "6", "7", "8", "9"].map((n) => [`-us${n}`, 0]),
  ),
  rule("terraform-cloud", /[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}/g, [[".atlasv1.", 60]]),
  rule("clickup", /(?<!\w)pk_\d{6,9}_[A-Z0-9]{32}(?!\w)/g, [["pk_", 38]]),
  rule(
    "jwt",
    /(?<![\w.-])eyJ[A-Za-z0-9_-]{15,}\.eyJ[A-Za-z0-9_-]{15,}\.[A-Za-z0-9_-]{20,}/g,
    [["eyJ", 50]],
    // The specimen every document about them shows.
    (match) => match.includes(".eyJzdWIiOiIxMjM0NTY3ODkwIi"),
  ),
  rule(
    "broker-url",
    /[a-z]{3,12}:\/\/[^\s:@/"'<>`]{0,60}:[^\s@/"'<>`]{6,120}@[^\s"'<>`/]{3,}/g,
    BROKERS.map((name) => [`${name}://`, 8]),
    (match) => {
      const [, password = "", host = ""] = /^[a-z]+:\/\/[^:]*:([^@]*)@(.*)$/.exec(match) ?? [];
      return PLACEHOLDER.test(password) || /^(?:localhost|127\.|example|0\.0\.0\.0|\[::1|host)/.test(host);
    },
  ),
  rule("docker-login", /"auths"\s*:\s*\{[\s\S]{0,400}?"auth"\s*:\s*"[A-Za-z0-9+/]{16,}={0,2}"/g, [['"auths"', 0]]),
];

const PROVIDERS = [
  "twilio",
  "datadog",
  "cohere",
  "algolia",
  "mistral",
  "okta",
  "fastly",
  "discord",
  "heroku",
  "mailgun",
  "airtable",
  "snyk",
  "cloudflare",
  "azure",
  "wandb",
  "trello",
  "ngrok",
  "deepgram",
  "elevenlabs",
  "deepseek",
  "segment",
  "intercom",
  "dropbox",
  "asana",
  "telegram",
  "twitter",
  "facebook",
  "travis",
  "codecov",
  "zendesk",
];

const RARE_NAMES = ["twilio", "okta", "mailgun", "airtable", "snyk", "wandb"];

/** A value that was drawn, not written: letters and digits, many of them different. */
function isDrawn(value: string): boolean {
  return /[0-9]/.test(value) && /[A-Za-z]/.test(value) && new Set(value).size >= 10 && !PLACEHOLDER.test(value);
}

/** Tokens without a shape of their own: known by the name they are given to. */
const ASSIGNED: OwnRule = rule(
  "assigned-token",
  new RegExp(
    `(?:${PROVIDERS.join("|")})[\\w.-]{0,24}(?:key|token|secret|auth|password)[\\w.-]{0,12}["'\`]?\\]?\\s{0,4}(?:=>|:=|=|:)\\s{0,4}["'\`]?(?:Bearer )?([A-Za-z0-9_\\-./+=~|]{20,200})`,
    "gi",
  ),
  // In small letters only names that are no words: every hit of a keyword costs time.
  [...PROVIDERS.map((name) => name.toUpperCase()), ...RARE_NAMES].map((text) => [text, 3] as const),
  (match) => !isDrawn(/[=:]\s{0,4}["'`]?(?:Bearer )?([A-Za-z0-9_\-./+=~|]{20,})$/.exec(match)?.[1] ?? ""),
);

export const OWN_FORMATS: readonly OwnRule[] = [...TOKENS, ...SHAPES, ASSIGNED];
