// What is at hand to open a vault, read from flags and the environment. Nothing here is ever printed.
import { existsSync, readFileSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { fromSystemError, NutError } from "../../errors.js";
import type { Context } from "../../operation.js";
import { findProgram, neverShow, runChild } from "../../process/index.js";
import {
  type Keys,
  type PeerIdentity,
  parseAgeIdentities,
  parseIdentity,
  type RunProgram,
  readAgeIdentityFile,
  readIdentityFile,
  readSecretFile,
  recipientOf,
  type TransitSettings,
} from "../../vault/index.js";

export function homeOf(env: Context["env"]): string {
  const home = env.HOME ?? env.USERPROFILE ?? "";
  if (isAbsolute(home)) return home;
  throw new NutError("IDENTITY_MISSING", "no home folder is set, so there is no default place for identities", {
    hint: "name a file with --identity '<file>'",
  });
}

export function configFolder(env: Context["env"]): string {
  const config = env.XDG_CONFIG_HOME ?? "";
  return join(isAbsolute(config) ? config : join(homeOf(env), ".config"), "nutshell");
}

/** Where keygen puts an age identity, and where every command looks first. */
export function defaultIdentityPath(env: Context["env"]): string {
  const own = env.NUTSHELL_IDENTITY ?? "";
  return own === "" ? join(configFolder(env), "identity.txt") : own;
}

/** Where keygen --peer puts an Ed25519 identity. */
export function defaultPeerPath(env: Context["env"]): string {
  return join(configFolder(env), "peer.key");
}

/** The market's own identity comes first: peers know us by it. */
export function peerPaths(env: Context["env"]): string[] {
  const data = env.CLAWNET_DATA_DIR ?? "";
  return [join(data === "" ? join(homeOf(env), ".openclaw", "clawnet") : data, "identity.key"), defaultPeerPath(env)];
}

/** The named Ed25519 identity, or the default one; null when none was named and none exists. */
export function findPeerIdentity(file: string | undefined, { cwd, env }: Context): PeerIdentity | null {
  if (file !== undefined) return readIdentityFile(resolve(cwd, file));
  const path = hasHome(env) ? peerPaths(env).find((candidate) => existsSync(candidate)) : undefined;
  return path === undefined ? null : readIdentityFile(path);
}

/** What may open a sealed bundle: the Ed25519 keys among the named files, or else every one of one's own. */
export function peerIdentities(files: readonly string[], context: Pick<Context, "cwd" | "env">): PeerIdentity[] {
  const named = files.flatMap((file) => peerKeyIn(resolve(context.cwd, file)) ?? []);
  if (named.length > 0 || !hasHome(context.env)) return named;
  return peerPaths(context.env).filter(existsSync).map(readIdentityFile);
}

/** One flag takes both kinds of keys: those for vaults are text, those of peers are bytes. */
const peerKeyIn = (path: string): PeerIdentity | null => parseIdentity(readSecretFile(path));

export function hasHome(env: Context["env"]): boolean {
  return isAbsolute(env.HOME ?? env.USERPROFILE ?? "");
}

/** Everything that may open a vault. A named file must be readable; a default one may be absent. */
export function collectKeys(files: readonly string[], context: Context, { onlyNamed = false } = {}): Keys {
  for (const file of [...files, context.env.NUTSHELL_IDENTITY ?? "", context.env.SOPS_AGE_KEY_FILE ?? ""]) {
    if (file !== "") neverShow(resolve(context.cwd, file));
  }
  const passphrase = memo(() => askPassphrase(context));
  const named = files.map((file) => resolve(context.cwd, file)).filter((path) => peerKeyIn(path) === null);
  return {
    identities: onlyNamed && named.length === 0 ? [] : ageIdentities(named, context),
    passphrase,
    transit: transitSettings(context.env),
    // Programs find logins by themselves, which nobody named.
    ...(onlyNamed ? {} : { run: programRunner(context) }),
    signal: context.signal,
  };
}

function ageIdentities(named: readonly string[], { env }: Context): string[] {
  if (named.length > 0) return named.flatMap(readAgeIdentityFile);
  const found: string[] = [];
  const candidates = [...(hasHome(env) ? [defaultIdentityPath(env)] : []), env.SOPS_AGE_KEY_FILE ?? ""];
  for (const path of candidates) if (path !== "" && existsSync(path)) found.push(...readAgeIdentityFile(path));
  found.push(...(parseAgeIdentities(env.SOPS_AGE_KEY ?? "") ?? []));
  return [...new Set(found)];
}

export async function ownRecipients(keys: Keys): Promise<string[]> {
  return Promise.all(keys.identities.map(recipientOf));
}

async function askPassphrase({ env, ask }: Context): Promise<string | null> {
  const given = env.NUTSHELL_PASSPHRASE ?? "";
  if (given !== "") return given;
  return ask === null ? null : ask.secret("Passphrase of the vault");
}

/** HashiCorp's own variables; the token falls back to the file that `vault login` writes. */
function transitSettings(env: Context["env"]): TransitSettings | null {
  const address = env.VAULT_ADDR ?? "";
  if (address === "") return null;
  const token = (env.VAULT_TOKEN ?? "") !== "" ? env.VAULT_TOKEN! : tokenFile(env);
  if (token === null) return null;
  const ca = env.VAULT_CACERT ?? "";
  const namespace = env.VAULT_NAMESPACE ?? "";
  return { address, token, ...(namespace === "" ? {} : { namespace }), ...(ca === "" ? {} : { ca: readText(ca) }) };
}

function tokenFile(env: Context["env"]): string | null {
  const path = hasHome(env) ? join(homeOf(env), ".vault-token") : "";
  return path !== "" && existsSync(path) ? readText(path).trim() : null;
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
}

function programRunner({ cwd, env, signal }: Context): RunProgram {
  return async (program, args, input) => {
    if (findProgram(program, env, cwd) === null) return null;
    const text = Buffer.from(input).toString("utf8");
    const maxOutputBytes = 256 * 1024 * 1024;
    const result = await runChild({
      command: program,
      args,
      cwd,
      env,
      stdin: { text },
      signal,
      timeoutMs: 60_000,
      maxOutputBytes,
    });
    return { status: result.code ?? 1, stdout: Buffer.from(result.stdout.text, "utf8"), stderr: result.stderr.text };
  };
}

function memo<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
