// Changing whom one trusts. Lines that are not concerned stay as they are, comments and all.
import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fromSystemError, NutError, shellWord } from "../../errors.js";
import { makeFolder, replaceFiles } from "../../files/index.js";
import type { Context } from "../../operation.js";
import { NAMESPACE } from "../../schema/statement.js";
import {
  ed25519Blob,
  fingerprint,
  formatTrustLine,
  keyLine,
  parseAllowedSigners,
  parseKeyLine,
  principalProblem,
  readKey,
  type SshKey,
} from "../../statements/index.js";
import { parsePeer } from "../../vault/index.js";
import { readTrust, revokedPath, trustPath } from "./trust-files.js";

export interface NewTrust {
  readonly principal: string;
  readonly key: SshKey;
  readonly validAfter: Date | null;
  readonly validBefore: Date | null;
}

/** Adds a line; false when just this is written down already. */
export function addTrust({ principal, key, validAfter, validBefore }: NewTrust, context: Context): boolean {
  const problem = principalProblem(principal);
  if (problem !== null) {
    throw new NutError("USAGE", `${JSON.stringify(principal)} cannot be trusted: ${problem}`, {
      hint: "nutshell trust add alice@example.org --key '<file>.pub'",
    });
  }
  const path = trustFile(context);
  if (readTrust(context).revoked.has(fingerprint(key))) {
    throw new NutError("TRUST_INVALID", `the key ${fingerprint(key)} was revoked`, {
      hint: `ask for a new key; what was revoked is in ${revokedPath(path)}`,
    });
  }
  const line = formatTrustLine({ principals: [principal], key, namespaces: [NAMESPACE], validAfter, validBefore });
  const text = readText(path);
  if (text.split("\n").includes(line)) return false;
  write(path, `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${line}\n`);
  return true;
}

/** Takes out a person or a key, by principal or fingerprint; returns what was there. */
export function removeTrust(who: string, context: Context): { principals: string[]; key: SshKey }[] {
  const path = trustFile(context);
  const text = readText(path);
  const concerned = parseAllowedSigners(text).lines.filter(
    ({ principals, key }) => principals.includes(who) || fingerprint(key) === who,
  );
  if (concerned.length === 0) {
    throw new NutError("TRUST_INVALID", `nobody by the name or key ${who} is in ${path}`, {
      hint: "nutshell trust list",
    });
  }
  const changed = new Map(
    concerned.map((one) => {
      const left = one.principals.filter((principal) => principal !== who && fingerprint(one.key) !== who);
      return [one.line, left.length === 0 ? null : formatTrustLine({ ...one, principals: left })];
    }),
  );
  const lines = text.split("\n").map((line, index) => (changed.has(index + 1) ? changed.get(index + 1)! : line));
  write(path, lines.filter((line) => line !== null).join("\n"));
  return concerned.map(({ principals, key }) => ({ principals: [...principals], key }));
}

/** A revoked key counts for nothing, whatever any list says of it and whenever it signed. */
export function revokeKey(key: SshKey, context: Context): string {
  const path = revokedPath(trustFile(context));
  const text = readText(path);
  const line = keyLine(key);
  if (!text.split("\n").includes(line))
    write(path, `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${line}\n`);
  return path;
}

function trustFile(context: Context): string {
  const path = trustPath(context);
  if (path !== null) return path;
  throw new NutError("TRUST_INVALID", "no home folder is set, so there is no place to write down whom you trust", {
    hint: "export NUTSHELL_ALLOWED_SIGNERS='<file>'",
  });
}

function readText(path: string): string {
  try {
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
}

function write(path: string, text: string): void {
  try {
    makeFolder(dirname(path), 0o700);
    replaceFiles([{ path, data: text, mode: 0o600 }]);
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
}

/** A .pub file, the line in it, 64 hex digits or a peer id. */
export function readPublicKey(typed: string, { cwd }: Context): SshKey {
  const path = resolve(cwd, typed);
  const text = existsSync(path) ? readText(path) : typed;
  if (text.includes("PRIVATE KEY")) {
    throw new NutError("USAGE", `${typed} is a private key; trust goes by the public one`, {
      hint: `nutshell trust add "<name>" --key ${shellWord(`${typed}.pub`)}`,
    });
  }
  const key = parseKeyLine(text.trim().split("\n")[0] ?? "");
  if (key !== null) return key;
  const peer = text.trim();
  if (!/^(?:[0-9a-fA-F]{64}|12D3KooW\S+)$/.test(peer)) {
    const what = existsSync(path) ? "holds no public key" : "is neither a file nor a public key";
    throw new NutError("TRUST_INVALID", `${typed} ${what}`, {
      hint: "give an SSH public key (its file or its line), 64 hex digits or a 12D3KooW… peer id",
    });
  }
  return readKey(ed25519Blob(parsePeer(peer)))!;
}
