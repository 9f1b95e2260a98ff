// Whom this account trusts, and what its policies demand. Both lie outside every bundle; a project's own policy can only
// demand more, since a stranger's repository could have brought it.
import { lstatSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fromSystemError, NutError, shellWord } from "../../errors.js";
import type { Context } from "../../operation.js";
import { mismatchLine } from "../../schema/mismatch.js";
import { Policy } from "../../schema/policy.js";
import { findRoot, layoutOf } from "../../state/index.js";
import {
  isNamed,
  loadSigstore,
  MAX_ROOT_BYTES,
  NO_TRUST,
  parseAllowedSigners,
  parseRevoked,
  type SigstoreTrust,
  type Trust,
} from "../../statements/index.js";
import { configFolder, hasHome } from "../vault/keys.js";

/** Where trust is written down; null without a home folder. */
export function trustPath(context: Context): string | null {
  const given = context.env.NUTSHELL_ALLOWED_SIGNERS ?? "";
  if (given !== "") return resolve(context.cwd, given);
  return hasHome(context.env) ? join(configFolder(context.env), "allowed_signers") : null;
}

export const revokedPath = (trust: string): string => join(dirname(trust), "revoked_keys");

/** Far above any list of keys. */
const MAX_BYTES = 4 * 1024 * 1024;

export function readTrust(context: Context): Trust {
  const path = trustPath(context);
  if (path === null) return NO_TRUST;
  const isGiven = (context.env.NUTSHELL_ALLOWED_SIGNERS ?? "") !== "";
  const text = isThere(path) || isGiven ? readGuarded(path) : Buffer.alloc(0);
  const revoked = revokedPath(path);
  const keys = isThere(revoked)
    ? parseRevoked(readGuarded(revoked), (why) => invalid(revoked, why))
    : new Set<string>();
  return { ...parseAllowedSigners(text.toString("utf8")), revoked: keys };
}

/** A link that leads nowhere, or a folder that cannot be looked into, is not the same as no file: what it held would be lost. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return false;
    throw fromSystemError(error, path) ?? error;
  }
}

const invalid = (path: string, why: string): NutError =>
  new NutError("TRUST_INVALID", `${path}: ${why}`, { hint: "nutshell trust list", data: { path } });

/** Who may write the file decides whom you trust. */
function readGuarded(path: string): Buffer {
  try {
    const { uid, mode, size } = statSync(path);
    const owned = process.getuid === undefined || uid === process.getuid() || uid === 0;
    if (process.getuid !== undefined && (!owned || (mode & 0o022) !== 0)) {
      throw new NutError("TRUST_INVALID", `${path}: others may write it, so it says nothing about whom you trust`, {
        hint: `chmod go-w ${shellWord(path)}`,
        data: { path },
      });
    }
    if (size > MAX_BYTES) throw invalid(path, "too large for what it should hold");
    return readFileSync(path);
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
}

/** Whose Sigstore bundles count: by this root, and by name. Throws TRUST_INVALID for what is no root. */
export async function readSigstoreRoot(
  file: string,
  names: readonly string[],
  { cwd }: Context,
): Promise<SigstoreTrust> {
  const path = resolve(cwd, file);
  const refuse = (why: string) =>
    new NutError("TRUST_INVALID", `${path}: ${why}`, {
      hint: "give the trusted_root.json of the Sigstore you use, as its own tools fetch it",
      data: { path },
    });
  let text: string;
  try {
    if (statSync(path).size > MAX_ROOT_BYTES) throw refuse("too large for a trusted root");
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
  const verify = await loadSigstore(text, refuse);
  return { verify, isNamed: (identity) => isNamed({ principals: [identity] }, names) };
}

export interface Policies {
  /** Every demand of each holds. */
  readonly demands: readonly Policy[];
  /** Those that may also say whose word is enough: yours, and the one you name. */
  readonly own: readonly Policy[];
  readonly paths: readonly string[];
}

/** The named policy, your own and the project's. Throws POLICY_INVALID: going on without one would ask for less. */
export async function readPolicies(named: string | undefined, context: Context): Promise<Policies> {
  const home = hasHome(context.env) ? [join(configFolder(context.env), "policy.yml")].filter(isThere) : [];
  const given = [...(named === undefined ? [] : [resolve(context.cwd, named)]), ...home];
  const project = join(layoutOf(findRoot(context.cwd, context.env)).nexus, "policy.yml");
  const isNew = isThere(project) && !given.includes(project);
  // Whose word is enough is said by your own: nobody else may have written it.
  const own = await Promise.all(
    given.map((path) => readPolicy(path, home.includes(path) ? readGuarded : readFileSync)),
  );
  return {
    demands: [...own, ...(isNew ? [await readPolicy(project, readFileSync)] : [])],
    own,
    paths: [...given, ...(isNew ? [project] : [])],
  };
}

async function readPolicy(path: string, read: (path: string) => Buffer): Promise<Policy> {
  const refuse = (why: string) =>
    new NutError("POLICY_INVALID", `${path}: ${why}`, {
      hint: "nutshell schema policy says what it may hold",
      data: { path },
    });
  let text: string;
  try {
    text = read(path).toString("utf8");
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
  // Loaded only where there is a policy to read.
  const { parseYaml } = await import("../../catalog/yaml.js");
  const parsed = Policy.safeParse(parseYaml(text, refuse) ?? {});
  if (parsed.success) return parsed.data;
  throw refuse(mismatchLine(parsed.error.issues[0]!));
}
