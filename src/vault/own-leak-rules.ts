// Token formats the preset does not know: a public prefix, and what follows it. Facts from the providers' documents; each
// row is one line so that a new format is one more. A rule is asked only where one of its keywords stands.
// Long because: one format is one line, and there are many.
import { ASSIGNED_RULES, isDrawn, PLACEHOLDER } from "./assigned-secrets.js";
import { bytesLike, skip } from "./byte-runs.js";
import type { LeakRule } from "./leak-rules.js";

/** What must stand in the text, and what must follow it at once: so many token characters, or whatever a look says. */
type OwnKeyword = readonly [text: string, follows: number | ((bytes: Uint8Array, from: number) => boolean)];

export interface OwnRule {
  readonly id: string;
  readonly keywords: readonly OwnKeyword[];
  /** Where in a text something that must not leave starts and ends. */
  readonly find: LeakRule["find"];
  /** How much of the text around a keyword it needs. */
  readonly reach?: LeakRule["reach"];
  /** It may well be none: said, never refused. */
  readonly warns?: boolean;
}

function rule(
  id: string,
  expression: RegExp,
  keywords: OwnRule["keywords"],
  harmless?: (match: string) => boolean,
  reach?: OwnRule["reach"],
): OwnRule {
  const find: OwnRule["find"] = (text) =>
    [...text.matchAll(expression)]
      .filter(([all]) => harmless?.(all) !== true)
      .map(({ index, 0: all }) => [index, index + all.length]);
  return reach === undefined ? { id, keywords, find } : { id, keywords, find, reach };
}

/** A prefix and a body of at least so many characters, neither in the middle of a longer word. */
function token(id: string, body: string, tail: number, ...prefixes: string[]): OwnRule {
  const names = prefixes.map((prefix) => prefix.replace(/[.$]/g, "\\$&")).join("|");
  const expression = new RegExp(`(?<![A-Za-z0-9_])(?:${names})${body}{${tail},}`, "g");
  return rule(
    id,
    expression,
    prefixes.map((prefix) => [prefix, tail]),
  );
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
  token("doppler", "[A-Za-z0-9._-]", 40, "dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."),
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
  rule("firebase", /:APA91b[A-Za-z0-9_-]{120,}/g, [[":APA91b", 120]]),
  // Takes the place of the preset's, which misses a dash at the end.
  rule("sendgrid", /(?<![\w.])SG\.[\w-]{20,24}\.[\w-]{39,50}/g, [["SG.", 20]]),
  rule("resend", /(?<!\w)re_[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,30}(?!\w)/g, [["re_", resendFollows]]),
  rule("mollie", /["'= ](?:live|test)_[A-Za-z0-9]{30}(?![A-Za-z0-9_])/g, [
    ["live_", 30],
    ["test_", 30],
  ]),
  rule("statsig", /(?<![\w-])secret-[A-Za-z0-9]{40,}(?![\w-])/g, [["secret-", 40]]),
  rule(
    "asana",
    /(?<!\w)[12]\/\d{12,20}(?:\/\d{12,20})?:[0-9a-f]{32}(?!\w)/g,
    [..."0123456789"].flatMap((digit) => [`1/${digit}`, `2/${digit}`].map((text) => [text, 10] as const)),
  ),
  rule("rpc-url", /(?:infura\.io\/v3|alchemy\.com\/v2|quiknode\.pro)\/[A-Za-z0-9_-]{32,}/g, [
    ["infura.io/v3/", 32],
    ["alchemy.com/v2/", 32],
    ["quiknode.pro/", 32],
  ]),
  rule("backblaze", /(?<![\w/+])K00[0-9][A-Za-z0-9+/]{27}(?![\w/+])/g, [["K00", 28]]),
  rule("unleash", /["' ][\w*[\]-]+:[a-z]+\.[0-9a-f]{56,64}(?![0-9a-f])/g, [
    [":production.", 56],
    [":development.", 56],
    [":staging.", 56],
  ]),
  token("github-refresh", "[A-Za-z0-9]", 70, "ghr_"),
  token("duffel", WORD, 40, "duffel_live_", "duffel_test_"),
  token("yandex", WORD, 35, "AQVN"),
  token("docker-org", WORD, 32, "dckr_oat_"),
  token("frameio", WORD, 60, "fio-u-"),
  token("readme", "[a-z0-9]", 70, "rdme_"),
  token("elastic", "[A-Za-z0-9+/=_-]", 60, "essu_"),
  token("infracost", "[A-Za-z0-9]", 32, "ico-"),
  token("scalingo", WORD, 48, "tk-us-"),
  token("dropbox", WORD, 120, "sl.A", "sl.B", "sl.C", "sl.u."),
  token("vault-recovery", WORD, 24, "hvr."),
  token("nuget", "[a-z0-9]", 43, "oy2"),
  token("clojars", HEX, 50, "CLOJARS_"),
  token("posthog", "[A-Za-z0-9]", 40, "phx_", "phs_"),
  token("neon", "[a-z0-9]", 48, "napi_"),
  token("nvidia", WORD, 60, "nvapi-"),
  token("tavily", "[A-Za-z0-9-]", 28, "tvly-"),
  token("firecrawl", HEX, 32, "fc-"),
  token("fireworks", "[A-Za-z0-9]", 22, "fw_"),
  token("voyage", WORD, 43, "pa-"),
  token("jina", "[A-Za-z0-9_-]", 50, "jina_"),
  token("langfuse", "[0-9a-f-]", 36, "sk-lf-"),
  token("hex-secret", HEX, 40, "sk_", "key_"),
  token("twitch", "[a-z0-9]", 30, "oauth:"),
];

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
  // 64 bytes in quotes: what Azure gives for storage, Cosmos DB and others.
  rule(
    "azure-key",
    /(?:["']|(?<=_[Kk][Ee][Yy])\s?[=:]\s?)[A-Za-z0-9+/]{86}==(?=["']|\s|$)/gm,
    ['=="', "=='", "==\n", "==\r"].map((text) => [text, (bytes, from) => digitsBefore(bytes, from - text.length)]),
    (match) => !isDrawn(match),
    { before: 128, after: 8 },
  ),
  rule(
    "authorization",
    /authorization["']?\s?[:=,]\s?["']?(?:AccessKey|ApiKey|Api-Key|Bearer|GenieKey|SSWS|Splunk|Token|token|Key) [\w\-./+=~:]{16,}/gi,
    ["uthorization", "UTHORIZATION"].map((text) => [text, headerFollows]),
    (match) => !isDrawn(match.slice(match.lastIndexOf(" ") + 1)),
  ),
  rule("jdbc-password", /jdbc:[a-z]+:[^\s"'<>]{1,300}?[?&;]password=(?![$%{<*])[^\s&;"'<>]{6,60}/gi, [["jdbc:", 8]]),
  rule("oracle-url", /jdbc:oracle:\w+:[^\s/:@"']{1,60}\/[^\s/@"']{6,60}@/g, [["jdbc:oracle:", 8]]),
  rule("npmrc-auth", /^\s*_auth\s?=\s?["']?[A-Za-z0-9+/]{16,}={0,2}/gm, [["_auth", equalsFollows]]),
  rule(
    "curl-user",
    /(?:\s-u|--user)[ =]["']?[\w.@-]{1,60}:[^\s"'$]{12,}/g,
    [
      [" -u ", 8],
      ["--user ", 8],
    ],
    (match) => !isDrawn(match.slice(match.lastIndexOf(":") + 1)),
  ),
  rule(
    "command-line-key",
    /--(?:api-?key|token|access-?key|secret-?key)[ =]["']?[\w\-./+~]{20,}/g,
    ["--apikey", "--api-key", "--token", "--access-key", "--secret-key"].map((text) => [text, 0]),
    (match) => !isDrawn(match.replace(/^[\w-]+[ =]["']?/, "")),
  ),
  rule("azure-storage", /AccountKey=[A-Za-z0-9+/]{86}==/g, [["AccountKey=", 88]]),
  rule("azure-shared-access", /SharedAccessKey=[A-Za-z0-9+/]{43}=/g, [["SharedAccessKey=", 44]]),
  rule("azure-signature", /[?&]sv=\d{4}-\d\d-\d\d[^\s"'<>]{0,400}&sig=[A-Za-z0-9%+/]{43,}/g, [["&sig=", 43]]),
  rule("azure-client-secret", /(?<![\w~.-])[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}(?![\w~-])/g, [
    ["8Q~", 31],
    ["7Q~", 31],
  ]),
  rule("telegram", /(?:(?<![\w:])|(?<=\/bot))\d{8,10}:AA[A-Za-z0-9_-]{33}(?![\w-])/g, [[":AA", 33]]),
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
    // The specimens that documents about them show.
    (match) => /\.eyJ(?:zdWIiOiIxMjM0NTY3ODkwIi|zb21lIjoicGF5bG9hZCJ9)/.test(match),
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
  rule(
    // Takes the place of the preset's, which asks for one end of the text inside.
    "1password",
    /(?<!\w)ops_eyJ[A-Za-z0-9+/]{200,}={0,3}/g,
    [],
  ),
  rule("azure-devops", /(?<![A-Za-z0-9])[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])/g, [["AZDO", 4]]),
  rule("cloudflare-origin", /(?<![\w.-])v1\.0-[0-9a-f]{24}-[0-9a-f]{146}(?![0-9a-f])/g, [["v1.0-", 171]]),
  rule("npm-registry", /:_auth(?:Token)?\s?=\s?(?!npm_)["']?[A-Za-z0-9+/=_-]{20,}/g, [
    [":_authToken=", 20],
    [":_auth=", 20],
  ]),
  rule(
    "crates",
    /["'= ]cio[A-Za-z0-9]{32}(?![A-Za-z0-9])/g,
    ['"cio', "'cio", "=cio", " cio"].map((text) => [text, 32]),
  ),
  rule("braintree", /access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}/g, [
    ["access_token$production$", 16],
    ["access_token$sandbox$", 16],
  ]),
  rule("new-relic-license", /(?<![0-9A-Za-z])(?:[a-z]{2}\d\dxx)?[0-9a-f]{30,36}NRAL(?![0-9A-Za-z])/g, [["NRAL", 0]]),
  rule("airtable", /(?<!\w)pat[A-Za-z0-9]{14}\.[0-9a-f]{64}(?!\w)/g, [["pat", 14]], undefined, {
    before: 32,
    after: 96,
  }),
  rule("twilio-pair", /["']AC[0-9a-f]{32}["'],?\s{0,3}["'][0-9a-f]{32}(?=["'])/g, [
    ['"AC', 32],
    ["'AC", 32],
  ]),
  rule("laravel", /APP_KEY\s?=\s?["']?base64:[A-Za-z0-9+/]{43}=/g, [["base64:", 43]]),
  rule(
    // Fifty characters of what Django draws from.
    "django",
    /SECRET_KEY\s{0,3}=\s{0,3}["'](?:django-insecure-)?(?=[^"'\n]*[!@#$%^&*()])[a-z0-9!@#$%^&*(\-_=+)]{50}(?=["'])/g,
    [["SECRET_KEY", 0]],
  ),
  rule(
    "go-dsn",
    /(?<![\w/:])[\w.-]{1,40}:[^\s:@/"'`]{10,80}@(?:tcp|unix)\(/g,
    ["@tcp(", "@unix("].map((text) => [text, 0]),
    (match) => !isDrawn(match.slice(match.indexOf(":") + 1, match.lastIndexOf("@")), 10),
  ),
  rule(
    "wallet-key",
    /(?:private_?key|accounts|mnemonic)["']?\s{0,3}[:=]\s{0,3}\[?\s{0,3}["']?(?:0x)?[0-9a-f]{64}(?![0-9a-f])/gi,
    ["rivate_key", "rivateKey", "RIVATE_KEY", "ccounts", "rivatekey"].map((text) => [text, 0]),
    (match) => !isDrawn(match.slice(-64)),
    { before: 16, after: 128 },
  ),
  rule(
    // What is given to a program as its password, on a line of a shell.
    "command-line-password",
    /(?:\bsshpass -p ?["']?|\bmysql(?:dump|admin)?\s[^\n|;]{0,80}?\s-p|\bredis-cli\s[^\n|;]{0,80}?\s-a ["']?|\bdocker login\s[^\n|;]{0,80}?\s(?:-p|--password)[ =]["']?)[^\s"'$]{10,80}/g,
    ["sshpass -p", "mysql", "redis-cli ", "docker login"].map((text) => [text, 0]),
    (match) => !isDrawn(match.slice(match.search(/[^\s"']+$/)).replace(/^-[pa]/, ""), 10),
  ),
  rule(
    // The first part is a number in base64, which leaves few ways to begin.
    "discord-bot",
    /["'= ][MNO][DTjz][A-Za-z0-9]{22,26}\.[\w-]{6}\.[\w-]{27,45}(?![\w-])/g,
    ['"', "'", "=", " "].flatMap((quote) =>
      ["MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"].map((start) => [`${quote}${start}`, 55] as const),
    ),
  ),
  rule("facebook", /(?<![\w+/-])EAA[A-Za-z0-9]{100,}(?![\w+/=-])/g, [["EAA", 100]], (match) => !isDrawn(match)),
  rule("twitter", /(?<![\w+/])A{20,24}[A-Za-z0-9%]{5,80}%[23][DFB][A-Za-z0-9%]{25,}/g, [
    ["%3D", 25],
    ["%2F", 25],
    ["%2B", 25],
  ]),
  rule(
    "launchdarkly",
    /(?<![\w-])(?:sdk|mob|api)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![\w-])/g,
    ["sdk-", "mob-", "api-"].map((text) => [text, 36]),
  ),
  rule("salesforce", /(?<!\w)00D[A-Za-z0-9]{12,15}!A[A-Za-z0-9._]{80,}/g, [
    ["!AQ", 80],
    ["!AR", 80],
  ]),
  rule(
    "kafka-login",
    /LoginModule required[^\n]{0,200}\spassword=\\?["'][^"'\s]{8,}/g,
    [["LoginModule required", 0]],
    (match) => PLACEHOLDER.test(/password=\\?["'](.*)$/.exec(match)?.[1] ?? ""),
  ),
  rule(
    "netrc",
    /(?<!\w)machine\s+[\w.-]+\s+login\s+\S+\s+password\s+\S{8,}/g,
    [[" password ", 8]],
    (match) => !isDrawn(match.slice(match.search(/\S+$/)), 8),
  ),
  rule("basic-header", /\bBasic [A-Za-z0-9+/]{16,}={0,2}/g, [["Basic ", 16]], (match) => {
    const [, password = ""] = Buffer.from(match.slice(6), "base64").toString("latin1").split(/:(.*)/s);
    // The last two are the specimens of the standards.
    return !/^[\x20-\x7e]{8,}$/.test(password) || PLACEHOLDER.test(password) || /^(?:gX1fBat3bV|open )/.test(password);
  }),
  rule(
    "privatekey-in-base64",
    /LS0tLS1CRUdJTi[A-Za-z0-9+/]{60,}/g,
    [["LS0tLS1CRUdJTi", 60]],
    (match) => !/PRIVATE KEY/.test(Buffer.from(match.slice(0, 80), "base64").toString("latin1")),
  ),
  rule("wireguard", /PrivateKey ?= ?[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=(?!=)/g, [
    ["PrivateKey = ", 44],
    ["PrivateKey=", 44],
  ]),
  rule(
    "url-password",
    /https?:\/\/[^\s:@/"'<>`]{1,60}:[^\s:@/"'<>`]{12,200}@[a-z0-9.-]+/g,
    ["http://", "https://"].map((text) => [text, passwordFollows]),
    (match) => !isDrawn(/:([^:@]*)@/.exec(match)?.[1] ?? "", 12),
  ),
  rule("docker-login", /"auths"\s*:\s*\{[\s\S]{0,400}?"auth"\s*:\s*"[A-Za-z0-9+/]{16,}={0,2}"/g, [['"auths"', 0]]),
];

/** Whether the 64 bytes that end in two signs stand before: most pairs of signs are comparisons. */
function digitsBefore(bytes: Uint8Array, end: number): boolean {
  if (end < 86) return false;
  for (let at = end - 1; at >= end - 86; at -= 1) if (BASE64[bytes[at]!] === 0) return false;
  return true;
}

/** Whether a word begins with it, and goes on for long: most are the end of `core_`, `pre_` and the like. */
function resendFollows(bytes: Uint8Array, from: number): boolean {
  if (from > 3 && WORD_BYTES[bytes[from - 4]!] === 1) return false;
  for (let at = from; at < from + 24; at += 1) if (at >= bytes.length || WORD_BYTES[bytes[at]!] === 0) return false;
  return true;
}

/** Whether a sign, a word and sixteen characters of a value follow, as in `authorization: Bearer …`. */
function headerFollows(bytes: Uint8Array, from: number): boolean {
  const sign = skip(bytes, skip(bytes, from, 1, QUOTES), 1, BLANK);
  const after = skip(bytes, sign, 1, HEADER_SIGN);
  if (after === sign) return false;
  const word = skip(bytes, skip(bytes, after, 1, BLANK), 1, QUOTES);
  const end = skip(bytes, word, LONGEST_SCHEME, SCHEME);
  return end > word && bytes[end] === 0x20 && skip(bytes, end + 1, 16, HEADER_VALUE) === end + 17;
}

function equalsFollows(bytes: Uint8Array, from: number): boolean {
  return bytes[skip(bytes, from, 1, BLANK)] === 0x3d;
}

const LONGEST_SCHEME = 9;
const QUOTES = bytesLike(/["']/);
const BLANK = bytesLike(/\s/);
const HEADER_SIGN = bytesLike(/[:=,]/);
const SCHEME = bytesLike(/[A-Za-z-]/);
const HEADER_VALUE = bytesLike(/[\w\-./+=~:]/);
const BASE64 = bytesLike(/[A-Za-z0-9+/]/);
const WORD_BYTES = bytesLike(/\w/);

/** Whether `name:password@` follows; most addresses have neither. */
function passwordFollows(bytes: Uint8Array, from: number): boolean {
  let colons = 0;
  for (let at = from; at < Math.min(bytes.length, from + 270); at += 1) {
    const byte = bytes[at]!;
    if (byte === COLON) colons += 1;
    if (byte === AT) return colons === 1;
    if (byte <= SPACE || byte === SLASH || byte === QUOTE) return false;
  }
  return false;
}
const [SPACE, QUOTE, SLASH, COLON, AT] = [0x20, 0x22, 0x2f, 0x3a, 0x40];

export const OWN_FORMATS: readonly OwnRule[] = [...TOKENS, ...SHAPES, ...ASSIGNED_RULES];
