// What a leaked secret looks like. The provider formats are the maintained secretlint preset; this file decides where it
// is worth asking: a rule only runs near one of its keywords. A test holds that every rule can be reached by a keyword.
import { NutError } from "../errors.js";
import { OWN_FORMATS } from "./own-leak-rules.js";

/** The part of a secretlint rule that we use: its content check, without the linter around it. */
export interface RuleCreator {
  readonly meta: { readonly id: string };
  create(context: RuleContext, options: Record<string, unknown>): { file?(source: RuleSource): unknown };
}

interface RuleContext {
  readonly sharedOptions: Record<string, unknown>;
  createTranslator(messages: unknown): (id: string, data?: unknown) => unknown;
  report(problem: { readonly range: readonly [number, number] }): void;
  ignore(): void;
}

interface RuleSource {
  readonly content: string;
  readonly filePath: string;
  readonly ext: string;
  readonly contentType: "text";
  readonly hasBOM: boolean;
}

export interface LeakRule {
  readonly id: string;
  /** Where in `text` something that must not leave starts and ends. What does not hold the place `at` need not be told. */
  find(text: string, at?: number): readonly (readonly [start: number, end: number])[];
  /** How much of the text around a keyword it needs, when that is less than most do. */
  readonly reach?: { readonly before: number; readonly after: number };
  /** It may well be none: said, never refused. */
  readonly warns?: boolean;
}

export interface Keyword {
  readonly text: string;
  readonly rule: string;
  /** What must follow at once: so many token characters, or what a look says. Spares the rule most chance hits. */
  readonly tail: number | ((bytes: Uint8Array, from: number) => boolean);
}

const near = (rule: string, tail: number, ...texts: string[]): Keyword[] => texts.map((text) => ({ text, rule, tail }));

/**
 * Left out of the preset: comments that switch the scan off (the scanned file is not to be trusted with that), user:password
 * in web addresses (nearly always test data; tokens in them are found by their own rules), and whole service-account files
 * (the key inside is found by `privatekey`).
 */
export const UNUSED_RULES: ReadonlySet<string> = new Set(["filter-comments", "basicauth", "gcp"]);

export const KEYWORDS: readonly Keyword[] = [
  ...near("aws", 16, "AKIA", "AGPA", "AIDA", "AROA", "AIPA", "ANPA", "ANVA", "ASIA"),
  ...near("aws", 0, "CCESS_KEY", "ccess_key", "ccessKey", "CCESSKEY", "ccess_Key"),
  ...near("privatekey", 0, "PRIVATE KEY"),
  ...near("npm", 30, "npm_"),
  ...near("npm", 0, "_authToken=", ":x-oauth-basic@"),
  ...near("slack", 15, "xoxb-", "xoxp-", "xapp-", "xoxa-", "xoxo-", "xoxr-"),
  ...near("slack", 0, "hooks.slack.com/services/"),
  ...near("sendgrid", 20, "SG."),
  ...near("shopify", 32, "shppa_", "shpca_", "shpat_", "shpss_"),
  ...near("stripe", 24, "sk_live_", "rk_live_", "sk_test_", "rk_test_"),
  ...near("github", 30, "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
  ...near("gitlab", 20, "glpat-"),
  ...near("grafana", 32, "glc_", "glsa_"),
  ...near("openai", 0, "T3BlbkFJ"),
  ...near("anthropic", 80, "sk-ant-api0"),
  ...near("groq", 52, "gsk_"),
  ...near("huggingface", 34, "hf_"),
  ...near("linear", 32, "lin_api_"),
  ...near("notion", 40, "ntn_"),
  ...near("1password", 100, "ops_ey"),
  ...near("database-connection-string", 3, "mongodb://", "mongodb+srv://", "mysql://", "mysqlx://"),
  ...near("database-connection-string", 3, "postgres://", "postgresql://"),
  ...near("hashicorp-vault", 90, "hvs.", "hvb.", "hvr."),
  ...near("vercel", 20, "vcp_", "vci_", "vca_", "vcr_", "vck_"),
  ...near("databricks", 32, "dapi"),
  ...near("docker", 27, "dckr_pat_"),
  ...near("figma", 40, "figd_"),
  ...near("cloudflare", 48, "cfk_", "cfut_", "cfat_"),
  ...near("tailscale", 20, "tskey-"),
  ...near("age", 58, "AGE-SECRET-KEY-1"),
  ...near("google-api-key", 35, "AIza"),
  ...OWN_FORMATS.flatMap(({ id, keywords }) => keywords.map(([text, tail]) => ({ text, rule: id, tail }))),
];

/** Formats the preset does not know. */
const OWN_RULES: readonly LeakRule[] = [
  pattern("age", /\bAGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}\b/g),
  pattern("google-api-key", /(?<![A-Za-z0-9_-])AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/g),
  ...OWN_FORMATS,
];

function pattern(id: string, expression: RegExp): LeakRule {
  return { id, find: (text) => [...text.matchAll(expression)].map(({ index, 0: all }) => [index, index + all.length]) };
}

let loaded: Promise<ReadonlyMap<string, LeakRule>> | undefined;

/** Loaded once, and only when something is packed: the preset is most of a quarter megabyte. */
export function loadLeakRules(): Promise<ReadonlyMap<string, LeakRule>> {
  loaded ??= import("@secretlint/secretlint-rule-preset-recommend").then(({ rules }) => {
    const preset = (rules as unknown as readonly RuleCreator[]).map(adapt).filter(({ id }) => !UNUSED_RULES.has(id));
    return new Map([...preset, ...OWN_RULES].map((rule) => [rule.id, rule]));
  });
  return loaded;
}

function adapt(creator: RuleCreator): LeakRule {
  const id = creator.meta.id.replace(/^.*secretlint-rule-/, "");
  return {
    id,
    find(content) {
      const ranges: (readonly [number, number])[] = [];
      const handler = creator.create(
        {
          sharedOptions: {},
          createTranslator: () => () => ({}),
          report: ({ range }) => ranges.push(range),
          ignore: () => undefined,
        },
        { allows: [], enableIDScanRule: true },
      );
      // The rule set promises answers at once or later; one that answers later would be missed without a word.
      const later = handler.file?.({
        content,
        filePath: "scanned.txt",
        ext: ".txt",
        contentType: "text",
        hasBOM: false,
      });
      if (later instanceof Promise)
        throw new NutError("VAULT_BACKEND", `leak rule ${id} does not answer at once`, {
          hint: "npm install -g nutcracker",
        });
      return ranges;
    },
  };
}

const SECRET_NAMES: readonly RegExp[] = [
  /^\.env(\..+)?$/,
  /^id_(rsa|dsa|ecdsa|ed25519|ecdsa_sk|ed25519_sk|xmss)([._-].*)?$/,
  /\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk)$/,
  /^\.(npmrc|pypirc|netrc|git-credentials|pgpass|htpasswd|vault-token|dockercfg)$/,
  /^_netrc$/,
];
/** Templates and public halves carry no secret by intent; their content is still scanned. */
const HARMLESS_NAMES = /(\.pub|\.(example|sample|template|dist|defaults|schema|tmpl))$/i;

/** Files that exist to hold secrets. */
export function isSecretFileName(path: string): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  return !HARMLESS_NAMES.test(name) && SECRET_NAMES.some((pattern) => pattern.test(name));
}
