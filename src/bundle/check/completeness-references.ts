// What a request names must be there: documents, interfaces, credentials, tests, pictures.
import { posix } from "node:path";
import type { z } from "zod";
import { shellWord } from "../../errors.js";
import { JsonError, parseJson } from "../../files/index.js";
import { Endpoints } from "../../schema/endpoints.js";
import { ENCRYPTIONS } from "../../schema/manifest.js";
import { mismatchLine } from "../../schema/mismatch.js";
import { CREDENTIAL_NAME } from "../../schema/vault.js";
import { MAX_JSON_DEPTH } from "../format/limits.js";
import { MANIFEST_NAME } from "../format/safe-path.js";
import { PLACEHOLDER, type Report, SOON_MS, scriptWords } from "./report.js";

export const DEFAULT_CRITERIA = "tests/criteria.json";
export const DEFAULT_ENDPOINTS = "apis/endpoints.json";

/** The path a reference means, or null when it leaves the bundle. */
export function resolveReference(reference: string, base = ""): string | null {
  if (/^(?:[\\/]|[A-Za-z]:)/.test(reference) || reference.includes("\\") || reference.includes("\0")) return null;
  const path = posix.normalize(posix.join(base, reference));
  return path === ".." || path.startsWith("../") || path.startsWith("/") ? null : path;
}

/** A file that the manifest or one of its documents names. */
interface NamedFile {
  readonly field: string;
  /** Where in the field, when it is a list. */
  readonly at?: string;
  readonly path: string;
  /** Folder it is relative to. */
  readonly base?: string;
  /** What the file is for, in the words of the fix. */
  readonly purpose?: string;
  readonly optional?: boolean;
  /** A folder of that name is told: of one that is read with a warning, of one that is run as missing. */
  readonly file?: "read" | "run";
  /** The command that makes it, where nobody could write it by hand. */
  readonly fix?: string;
}

/** Reports a file that is absent or leaves the bundle. */
export async function checkReference(
  report: Report,
  { field, at, path, base, purpose, optional, file, fix: own }: NamedFile,
): Promise<void> {
  const { content, folders, missing, warn, pass, command, edit } = report;
  const complain = optional ? warn : missing;
  const dotted = /^[a-z_]+(\.[a-z_]+)+$/.test(field);
  if (dotted && path.trim() === "") {
    const fix = command(`set ${at ?? field} --unset`);
    missing({ code: "REFERENCE_EMPTY", path: field, message: "names no file", fix });
    return;
  }
  const resolved = resolveReference(path, base);
  if (resolved === null) {
    const fix = dotted ? command(`set ${at ?? field} --unset`) : edit(field);
    missing({ code: "REFERENCE_OUTSIDE", path: field, message: `${path} leaves the bundle`, fix });
    return;
  }
  const size = content.files.get(resolved);
  if (size !== undefined) {
    const script = file === "run" ? await scriptWords(content, resolved, size) : null;
    if (script === "unwritten")
      missing({ code: PLACEHOLDER, path: resolved, message: "does nothing, so it always passes", fix: edit(resolved) });
    else if (script !== null)
      warn({ code: "TEST_UNDECIDED", path: resolved, message: `${script}, whatever the work is`, fix: edit(resolved) });
    else if (size === 0) warn({ code: "FILE_EMPTY", path: resolved, message: "is empty", fix: edit(resolved) });
    pass(resolved, `exists (${sizeWords(size)})`);
    return;
  }
  if (folders.has(resolved.replace(/\/$/, ""))) {
    const message = `${resolved} is a folder: name a file in it`;
    const fix = dotted
      ? command(`set ${at ?? field} ${shellWord(`${resolved.replace(/\/$/, "")}/<name>`)}`)
      : edit(field);
    if (file !== undefined) (file === "run" ? missing : warn)({ code: "REFERENCE_FOLDER", path: field, message, fix });
    return;
  }
  const ignored = content.left.some((left) => left === resolved || (left.endsWith("/") && resolved.startsWith(left)));
  complain({
    code: ignored ? "REFERENCE_IGNORED" : "REFERENCE_MISSING",
    path: field,
    message: ignored
      ? `${resolved} is referenced but .nutignore leaves it out`
      : `${resolved} is referenced but missing${purpose === undefined ? "" : `: ${purpose}`}`,
    fix: ignored ? edit(".nutignore") : (own ?? edit(resolved)),
  });
}

function sizeWords(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

export async function checkContext(report: Report): Promise<void> {
  const { requirements, architecture, references, additional = [] } = report.manifest.context ?? {};
  const documents: readonly (readonly [string, string | undefined, string])[] = [
    ["context.requirements", requirements, "write what must work"],
    ["context.architecture", architecture, "write how the system is built"],
    ["context.references", references, "write what to read"],
  ];
  for (const [field, path, purpose] of documents) {
    if (path !== undefined) await checkReference(report, { field, path, purpose, file: "read" });
  }
  for (const [index, path] of additional.entries())
    await checkReference(report, { field: "context.additional", at: `context.additional.${index}`, path });
}

/** Reads and types a JSON file of the bundle; what is wrong with it is a finding, and null. */
export async function readDocument<T extends z.ZodType>(report: Report, path: string, schema: T) {
  const { content, missing, edit } = report;
  const invalid = (message: string) => {
    missing({ code: "FILE_INVALID", path, message, fix: edit(path) });
    return null;
  };
  let value: unknown;
  try {
    value = parseJson(await content.read(path), { maxDepth: MAX_JSON_DEPTH });
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return invalid(error.message);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data as z.output<T>;
  return invalid(mismatchLine(parsed.error.issues[0]!));
}

export async function readEndpoints(report: Report): Promise<{ path: string; document: Endpoints | null } | null> {
  const named = report.manifest.apis?.endpoints_spec;
  const path = named === undefined ? DEFAULT_ENDPOINTS : resolveReference(named);
  if (path === null || !report.content.files.has(path)) return null;
  return { path, document: await readDocument(report, path, Endpoints) };
}

export async function checkApis(report: Report): Promise<void> {
  const { manifest, missing } = report;
  const { endpoints_spec: spec, auth_method: auth, credential_ref: vault } = manifest.apis ?? {};
  if (spec !== undefined) await checkReference(report, { field: "apis.endpoints_spec", path: spec });
  const endpoints = await readEndpoints(report);
  for (const { method, path, body_schema: body, response_schema: response } of endpoints?.document?.endpoints ?? []) {
    for (const schema of [body, response]) {
      if (schema === undefined) continue;
      const purpose = `the schema of ${method} ${path}`;
      // Schema references are relative to apis/, wherever the document itself lies.
      await checkReference(report, { field: endpoints!.path, path: schema, base: "apis", purpose });
    }
  }
  const credential = endpoints?.document?.auth?.credential_ref;
  if (credential !== undefined)
    await checkCredentialName(report, endpoints!.path, credential, endpoints?.document?.auth?.type);
  if (vault !== undefined && manifest.credentials?.vault === undefined) {
    await checkReference(report, { field: "apis.credential_ref", path: vault, purpose: "the vault it points to" });
  } else if (auth !== undefined && !/^(?:none)?$/.test(auth.trim()) && manifest.credentials?.vault === undefined) {
    missing({
      code: "NO_VAULT",
      path: "apis.auth_method",
      message: `${auth}, but no vault is configured: the agent cannot sign in`,
      fix: report.command(`add-credential --name api --type ${shellWord(auth)}`),
    });
  }
}

/** A credential that criteria or interfaces name must be declared, or in the vault as far as anybody can see. */
export async function checkCredentialName(
  report: Report,
  path: string,
  name: string,
  type = "bearer_token",
): Promise<void> {
  const { manifest, missing, warn, command } = report;
  const { vault, scopes = [] } = manifest.credentials ?? {};
  // A declared scope without a vault is reported once, with the scopes.
  if (scopes.some((scope) => scope.name === name)) return;
  const fix = command(`add-credential --name ${shellWord(name)} --type ${shellWord(type)}`);
  const code = "CREDENTIAL_UNKNOWN";
  if (vault === undefined)
    return missing({
      code: "NO_VAULT",
      path,
      message: `names the credential ${name}, but no vault is configured`,
      fix,
    });
  const names = (await lookAtVault(report, vault))?.names ?? null;
  if (names?.has(name)) return;
  if (names !== null)
    return missing({ code, path, message: `names the credential ${name}, which is not in the vault`, fix });
  const message = `names the credential ${name}, which credentials.scopes does not: it must be in the vault`;
  warn({ code, path, message, fix: `${fix} --replace` });
}

/** What a vault is, whatever the manifest calls it; `names` are the credentials anybody can read. */
interface VaultLook {
  readonly kind: "age" | "sops" | "vault" | "none" | null;
  readonly names: ReadonlySet<string> | null;
}

/** What an age file begins with, plain and armoured. */
const AGE = /^(?:age-encryption\.org\/v1\n|-----BEGIN AGE ENCRYPTED FILE-----)/;

/** null for one that is not there. */
async function lookAtVault({ content }: Report, vault: string): Promise<VaultLook | null> {
  const path = resolveReference(vault);
  if (path === null || !content.files.has(path)) return null;
  const text = Buffer.from(await content.read(path)).toString("utf8");
  if (AGE.test(text)) return { kind: "age", names: null };
  // sops leaves the names of fields in clear, in JSON or YAML, and says so.
  if (/^sops:$/m.test(text)) return { kind: "sops", names: null };
  try {
    const { credentials, sops, transit } = JSON.parse(text);
    if (sops !== undefined) return { kind: "sops", names: null };
    if (transit !== undefined) return { kind: "vault", names: null };
    if (Array.isArray(credentials))
      return { kind: "none", names: new Set(credentials.map((each) => String(each?.name))) };
  } catch {
    // Not JSON: of no kind we know.
  }
  return { kind: null, names: null };
}

/** A label does not encrypt anything: what the vault is must be what the manifest calls it. */
async function checkLabel(report: Report, vault: string, encryption: string): Promise<void> {
  const { missing, command } = report;
  const look = await lookAtVault(report, vault);
  if (look === null || look.kind === encryption || !KINDS.has(encryption)) return;
  const wrong = (message: string, fix: string) =>
    missing({
      code: "VAULT_MISLABELED",
      path: "credentials.encryption",
      message: `${encryption}, but ${message}`,
      fix,
    });
  if (look.kind === null) return wrong("the vault is no file of any kind we know", renewVault(report, vault));
  if (look.kind !== "none")
    return wrong(`the vault is ${IS[look.kind]}`, command(`set credentials.encryption ${look.kind}`));
  wrong(
    "the vault is in clear: everyone who has the bundle has the secrets",
    `${command("set credentials.encryption none")} && ${command("rotate --re-encrypt --encryption age")}`,
  );
}

const KINDS: ReadonlySet<string> = new Set(ENCRYPTIONS);
const IS = { age: "an age file", sops: "a sops file", vault: "HashiCorp's" } as const;

/** A vault is not written by hand: the first credential makes it. */
function renewVault({ manifest, content, options, command }: Report, vault: string): string {
  const [scope] = manifest.credentials?.scopes ?? [];
  const make =
    scope === undefined
      ? command("set credentials.vault --unset")
      : command(`add-credential --name ${shellWord(scope.name)} --type ${shellWord(scope.type)}`);
  if (!content.files.has(vault)) return make;
  const file = options.dir === undefined ? vault : `${options.dir}/${vault}`;
  return `mv ${shellWord(file)} ${shellWord(`${file}.old`)} && ${make}`;
}

export async function checkCredentials(report: Report): Promise<void> {
  const { manifest, missing, warn, command, edit } = report;
  const { vault, encryption, scopes = [] } = manifest.credentials ?? {};
  if (vault !== undefined) {
    const purpose = "the vault the agent opens";
    await checkReference(report, { field: "credentials.vault", path: vault, purpose, fix: renewVault(report, vault) });
    await checkLabel(report, vault, encryption ?? "age");
    if (encryption === "none") {
      warn({
        code: "NOT_ENCRYPTED",
        path: "credentials.encryption",
        message: "none: everyone who has the bundle has the secrets",
        fix: command("rotate --re-encrypt --encryption age"),
      });
    }
  }
  for (const scope of scopes) {
    if (vault === undefined) {
      missing({
        code: "NO_VAULT",
        path: "credentials.vault",
        message: `no vault configured: the agent will not have ${scope.name}`,
        fix: CREDENTIAL_NAME.test(scope.name)
          ? command(`add-credential --name ${shellWord(scope.name)} --type ${shellWord(scope.type)}`)
          : edit(MANIFEST_NAME),
      });
    }
    checkExpiry(report, scope.name, scope.expires_at);
  }
}

function checkExpiry({ options, missing, warn, command }: Report, name: string, expiresAt: string | undefined): void {
  const path = `credentials.scopes.${name}`;
  const fix = command(`rotate ${shellWord(name)}`);
  if (expiresAt === undefined) {
    warn({ code: "NO_EXPIRY", path, message: "never expires", fix });
    return;
  }
  const left = Date.parse(expiresAt) - options.now.getTime();
  if (Number.isNaN(left)) missing({ code: "DATE_INVALID", path, message: `"${expiresAt}" is not a date`, fix });
  else if (left <= 0) missing({ code: "EXPIRED", path, message: `expired ${expiresAt}`, fix });
  else if (left <= SOON_MS) warn({ code: "EXPIRES_SOON", path, message: `expires soon, ${expiresAt}`, fix });
}

export async function checkImages(report: Report): Promise<void> {
  for (const [index, { path }] of (report.manifest.resources?.images ?? []).entries()) {
    const field = "resources.images";
    await checkReference(report, { field, at: `${field}.${index}`, path, optional: true });
  }
}
