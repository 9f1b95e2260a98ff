// What a request names must be there: documents, interfaces, credentials, tests, pictures.
import { createHash } from "node:crypto";
import { posix } from "node:path";
import type { z } from "zod";
import { shellWord } from "../../errors.js";
import { CRITERION_TYPES, Criteria } from "../../schema/criteria.js";
import { Endpoints } from "../../schema/endpoints.js";
import { installKind } from "../../schema/install.js";
import { mismatchLine } from "../../schema/mismatch.js";
import { HIDDEN_FILE } from "../../trees/result-tree.js";
import { type Report, SOON_MS } from "./report.js";

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
  readonly path: string;
  /** Folder it is relative to. */
  readonly base?: string;
  /** What the file is for, in the words of the fix. */
  readonly purpose?: string;
  readonly optional?: boolean;
}

/** Reports a file that is absent or leaves the bundle. */
function checkReference(report: Report, { field, path, base, purpose, optional }: NamedFile): void {
  const { content, folders, missing, warn, pass, command, edit } = report;
  const complain = optional ? warn : missing;
  const resolved = resolveReference(path, base);
  if (resolved === null) {
    complain({
      code: "REFERENCE_OUTSIDE",
      path: field,
      message: `${path} leaves the bundle`,
      fix: /^[a-z_]+(\.[a-z_]+)+$/.test(field) ? command(`set ${field} "<path inside the bundle>"`) : edit(field),
    });
    return;
  }
  const size = content.files.get(resolved);
  if (size !== undefined) {
    pass(resolved, `exists (${sizeWords(size)})`);
    return;
  }
  if (folders.has(resolved.replace(/\/$/, ""))) return;
  const ignored = content.left.some((left) => left === resolved || (left.endsWith("/") && resolved.startsWith(left)));
  complain({
    code: ignored ? "REFERENCE_IGNORED" : "REFERENCE_MISSING",
    path: field,
    message: ignored
      ? `${resolved} is referenced but .nutignore leaves it out`
      : `${resolved} is referenced but missing${purpose === undefined ? "" : `: ${purpose}`}`,
    fix: ignored ? edit(".nutignore") : edit(resolved),
  });
}

function sizeWords(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

export async function checkContext(report: Report): Promise<void> {
  const { requirements, architecture, references, additional = [] } = report.manifest.context ?? {};
  const documents: readonly (readonly [string, string | undefined, string?])[] = [
    ["context.requirements", requirements, "write what must work"],
    ["context.architecture", architecture, "write how the system is built"],
    ["context.references", references, "write what to read"],
    ...additional.map((path) => ["context.additional", path] as const),
  ];
  for (const [field, path, purpose] of documents) {
    if (path !== undefined) checkReference(report, { field, path, ...(purpose === undefined ? {} : { purpose }) });
  }
}

/** Reads and types a JSON file of the bundle; what is wrong with it is a finding, and null. */
async function readDocument<T extends z.ZodType>(report: Report, path: string, schema: T) {
  const { content, missing, edit } = report;
  const invalid = (message: string) => {
    missing({ code: "FILE_INVALID", path, message, fix: edit(path) });
    return null;
  };
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(await content.read(path)).toString("utf8"));
  } catch (error) {
    return invalid(`is not JSON: ${error instanceof Error ? error.message : ""}`);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data as z.output<T>;
  return invalid(mismatchLine(parsed.error.issues[0]!));
}

async function readEndpoints(report: Report): Promise<{ path: string; document: Endpoints | null } | null> {
  const named = report.manifest.apis?.endpoints_spec;
  const path = named === undefined ? DEFAULT_ENDPOINTS : resolveReference(named);
  if (path === null || !report.content.files.has(path)) return null;
  return { path, document: await readDocument(report, path, Endpoints) };
}

export async function checkApis(report: Report): Promise<void> {
  const { manifest, missing } = report;
  const { endpoints_spec: spec, auth_method: auth, credential_ref: vault } = manifest.apis ?? {};
  if (spec !== undefined) checkReference(report, { field: "apis.endpoints_spec", path: spec });
  const endpoints = await readEndpoints(report);
  for (const { method, path, body_schema: body, response_schema: response } of endpoints?.document?.endpoints ?? []) {
    for (const schema of [body, response]) {
      if (schema === undefined) continue;
      const purpose = `the schema of ${method} ${path}`;
      // Schema references are relative to apis/, wherever the document itself lies.
      checkReference(report, { field: endpoints!.path, path: schema, base: "apis", purpose });
    }
  }
  const credential = endpoints?.document?.auth?.credential_ref;
  if (credential !== undefined)
    await checkCredentialName(report, endpoints!.path, credential, endpoints?.document?.auth?.type);
  if (vault !== undefined && manifest.credentials?.vault === undefined) {
    checkReference(report, { field: "apis.credential_ref", path: vault, purpose: "the vault it points to" });
  } else if (auth !== undefined && auth !== "none" && manifest.credentials?.vault === undefined) {
    missing({
      code: "NO_VAULT",
      path: "apis.auth_method",
      message: `${auth}, but no vault is configured: the agent cannot sign in`,
      fix: report.command(`add-credential --name api --type ${shellWord(auth)}`),
    });
  }
}

/** A credential that criteria or interfaces name must be declared, or in the vault as far as anybody can see. */
async function checkCredentialName(report: Report, path: string, name: string, type = "bearer_token"): Promise<void> {
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
  const names = await namesInClear(report, vault);
  if (names?.has(name)) return;
  if (names !== null)
    return missing({ code, path, message: `names the credential ${name}, which is not in the vault`, fix });
  const message = `names the credential ${name}, which credentials.scopes does not: it must be in the vault`;
  warn({ code, path, message, fix: `${fix} --replace` });
}

/** The credentials of a vault that anybody can read; null for one that is closed, or not there. */
async function namesInClear({ content }: Report, vault: string): Promise<ReadonlySet<string> | null> {
  const path = resolveReference(vault);
  if (path === null || !content.files.has(path)) return null;
  try {
    // sops leaves the names of fields in clear and says so.
    const { credentials, sops } = JSON.parse(Buffer.from(await content.read(path)).toString("utf8"));
    return Array.isArray(credentials) && sops === undefined
      ? new Set(credentials.map((each) => String(each?.name)))
      : null;
  } catch {
    return null;
  }
}

/** What an age file begins with, plain and armoured. */
const AGE = /^(?:age-encryption\.org\/v1\n|-----BEGIN AGE ENCRYPTED FILE-----)/;

/** A label does not encrypt anything: what the vault is must be what the manifest calls it. */
async function checkLabel(report: Report, vault: string, encryption: string): Promise<void> {
  const { content, missing, command } = report;
  const path = resolveReference(vault);
  if (path === null || !content.files.has(path)) return;
  const isAge = AGE.test(Buffer.from(await content.read(path)).toString("latin1", 0, 64));
  const isClear = (await namesInClear(report, vault)) !== null;
  const wrong = (message: string, fix: string) =>
    missing({ code: "VAULT_MISLABELED", path: "credentials.encryption", message, fix });
  if (encryption !== "none" && isClear)
    wrong(
      `${encryption}, but the vault is in clear: everyone who has the bundle has the secrets`,
      `${command("set credentials.encryption none")} && ${command(`rotate --re-encrypt --encryption ${encryption}`)}`,
    );
  else if (encryption === "age" ? !isAge && !isClear : isAge)
    wrong(
      `${encryption}, but the vault is ${isAge ? "an age file" : "no age file"}`,
      command(`set credentials.encryption ${isAge ? "age" : "<what it is>"}`),
    );
}

export async function checkCredentials(report: Report): Promise<void> {
  const { manifest, missing, warn, command } = report;
  const { vault, encryption, scopes = [] } = manifest.credentials ?? {};
  if (vault !== undefined) {
    checkReference(report, { field: "credentials.vault", path: vault, purpose: "the vault the agent opens" });
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
        fix: command(`add-credential --name ${shellWord(scope.name)} --type ${shellWord(scope.type)}`),
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

export async function checkAcceptance(report: Report): Promise<void> {
  const { manifest, content, warn, pass, command } = report;
  const { criteria_file: named, test_scripts: scripts = [], checklist = [] } = manifest.acceptance ?? {};
  for (const path of scripts) {
    checkReference(report, { field: "acceptance.test_scripts", path, purpose: "a test cannot run" });
  }
  if (named !== undefined) checkReference(report, { field: "acceptance.criteria_file", path: named });
  const path = resolveReference(named ?? DEFAULT_CRITERIA);
  const hasCriteria = path !== null && content.files.has(path);
  if (hasCriteria) await checkCriteria(report, path);
  await checkHidden(report);
  await checkInstall(report);
  if (checklist.length > 0)
    pass("acceptance.checklist", checklist.length === 1 ? "1 item" : `${checklist.length} items`);
  if (manifest.acceptance?.hidden !== undefined || scripts.length > 0 || named !== undefined || hasCriteria) return;
  warn({
    code: "NO_ACCEPTANCE",
    path: "acceptance",
    message: `no test scripts${checklist.length > 0 ? ", only a checklist" : " and no checklist"}: the agent cannot verify itself`,
    fix:
      checklist.length > 0
        ? command('set acceptance.test_scripts "tests/scripts/<name>.sh" --append')
        : command('set acceptance.checklist "<what must be true when it is done>" --append'),
  });
}

async function checkCriteria(report: Report, path: string): Promise<void> {
  const { missing, warn, pass, edit } = report;
  const document = await readDocument(report, path, Criteria);
  if (document === null) return;
  const endpoints = await readEndpoints(report);
  const declared = new Set(endpoints?.document?.endpoints.map((each) => `${each.method} ${each.path}`));
  const ids = new Set<string>();
  const known: ReadonlySet<string> = new Set(CRITERION_TYPES);
  for (const { id, type, script, endpoint, credential_ref: credential, auto_verifiable } of document.criteria) {
    // What a person judges needs no program that knows it.
    if (!known.has(type) && (auto_verifiable ?? document.auto_verifiable) !== false) {
      const message = `${id} is of type ${type}, which nobody can run; types are ${CRITERION_TYPES.join(", ")}`;
      missing({ code: "CRITERION_UNKNOWN", path, message, fix: edit(path) });
    }
    if (ids.has(id)) warn({ code: "CRITERION_TWICE", path, message: `${id} stands twice`, fix: edit(path) });
    ids.add(id);
    if (script !== undefined) checkReference(report, { field: path, path: script, purpose: `the script of ${id}` });
    if (endpoint !== undefined && endpoints !== null && !declared.has(endpoint)) {
      const message = `${id} calls ${endpoint}, which ${endpoints.path} does not declare`;
      missing({ code: "ENDPOINT_UNKNOWN", path, message, fix: edit(endpoints.path) });
    }
    if (credential !== undefined) await checkCredentialName(report, path, credential);
  }
  pass(path, document.criteria.length === 1 ? "1 criterion" : `${document.criteria.length} criteria`);
}

/** What everybody may know of hidden checks: that they are there, how many, and that nobody swapped them. */
async function checkHidden({ manifest, content, missing, pass, command }: Report): Promise<void> {
  const summary = manifest.acceptance?.hidden;
  const there = content.files.has(HIDDEN_FILE);
  const fix = command("hide --criteria <file> --replace");
  const wrong = (message: string) => missing({ code: "HIDDEN_UNFIT", path: HIDDEN_FILE, message, fix });
  if (summary === undefined) {
    if (there) wrong("is there, but acceptance.hidden does not speak of it");
    return;
  }
  if (!there) return wrong("acceptance.hidden speaks of it, but it is missing");
  const digest = createHash("sha256")
    .update(await content.read(HIDDEN_FILE))
    .digest("hex");
  if (summary.digest !== `sha256:${digest}`) return wrong("is not the file acceptance.hidden names");
  const keys = summary.recipients === 1 ? "1 key" : `${summary.recipients} keys`;
  pass(HIDDEN_FILE, `${summary.count} hidden, for ${keys} (${summary.digest})`);
}

/** What the checks need installed: a script is in the bundle; a lock file there, or in the repository of the work. */
async function checkInstall(report: Report): Promise<void> {
  const { manifest, content, pass, warn, command } = report;
  const { install } = manifest.acceptance ?? {};
  for (const step of install ?? []) {
    const path = typeof step === "string" ? step : step.path;
    const kind = installKind(path);
    if (kind === "script") {
      checkReference(report, { field: "acceptance.install", path, purpose: "the checks lack what it installs" });
    } else {
      const where = content.files.has(resolveReference(path) ?? "") ? "" : ", in the repository of the work";
      pass("acceptance.install", `${path} (${kind}${where})`);
    }
  }
  if (install !== undefined) return;
  for (const path of content.files.keys()) {
    if (installKind(path) === "script" || path.split("/").length > LOCK_DEPTH || !(await locksAnything(report, path)))
      continue;
    warn({
      code: "INSTALL_UNSAID",
      path: "acceptance.install",
      message: `${path} is there, but nothing says to install it: the checks run without its packages`,
      fix: command(`set acceptance.install ${shellWord(path)} --append`),
    });
  }
}

/** Further down they belong to examples and test data. */
const LOCK_DEPTH = 2;

async function locksAnything({ content }: Report, path: string): Promise<boolean> {
  const text = Buffer.from(await content.read(path)).toString("utf8");
  if (path.endsWith(".json")) return text.includes('"node_modules/');
  return text.split("\n").some((line) => /^\s*[^\s#]/.test(line));
}

export function checkImages(report: Report): void {
  for (const { path } of report.manifest.resources?.images ?? []) {
    checkReference(report, { field: "resources.images", path, optional: true });
  }
}
