// With what a person signs: an SSH key, through ssh-keygen (which asks the agent, reads the file or waits for a touch), or
// their own Ed25519 identity, which rotations and the market use too. Nothing of a key is ever printed.
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fromSystemError, NutError, shellWord } from "../../errors.js";
import type { Context } from "../../operation.js";
import { findProgram, neverShow, runChild } from "../../process/index.js";
import { NAMESPACE } from "../../schema/statement.js";
import { bytesToSign, dearmor, ed25519Blob, encodeSignature, type Signer, wireString } from "../../statements/index.js";
import { type PeerIdentity, parseIdentity, sign } from "../../vault/index.js";
import { hasHome, homeOf, peerPaths } from "../vault/keys.js";

export interface SigningKey {
  /** The file it comes from. */
  readonly path: string;
  readonly sign: Signer;
}

/** In the order OpenSSH itself tries them. */
const SSH_NAMES = ["id_ed25519", "id_ecdsa", "id_rsa", "id_ed25519_sk", "id_ecdsa_sk"];

/** The named key, or the first of one's own. Throws SIGNER_MISSING; whether it can sign shows when it does. */
export function findSigningKey(named: string | undefined, context: Context): SigningKey {
  const given = named ?? (context.env.NUTSHELL_SIGNING_KEY || undefined);
  const path = given === undefined ? ownKeys(context.env).find((one) => existsSync(one)) : resolve(context.cwd, given);
  if (path === undefined) {
    throw new NutError("SIGNER_MISSING", "there is no key to sign with", {
      hint: "nutshell keygen --peer (or ssh-keygen -t ed25519; or name one: --key '<file>')",
    });
  }
  neverShow(path);
  const bytes = readKeyFile(path);
  const identity = isText(bytes) ? null : parseIdentity(bytes);
  if (identity !== null) return { path, sign: async (message) => signWithIdentity(message, identity) };
  if (!isText(bytes)) {
    throw new NutError("SIGNER_MISSING", `${path} holds no key we know`, {
      hint: "--key '<file>' names an SSH key, its .pub file where the agent holds it, or an identity (nutshell keygen --peer)",
    });
  }
  return { path, sign: (message) => signWithSsh(message, path, context) };
}

function ownKeys(env: Context["env"]): string[] {
  if (!hasHome(env)) return [];
  return [...SSH_NAMES.map((name) => join(homeOf(env), ".ssh", name)), ...peerPaths(env)];
}

/** Far above any key. */
const MAX_KEY_BYTES = 64 * 1024;

function readKeyFile(path: string): Buffer {
  try {
    const bytes = readFileSync(path);
    if (bytes.length <= MAX_KEY_BYTES) return bytes;
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
  throw new NutError("SIGNER_MISSING", `${path}: too large for a key`, { hint: "name a key: --key '<file>'" });
}

const isText = (bytes: Buffer): boolean => /^(?:-----BEGIN |(?:ssh|ecdsa|sk)-)/.test(bytes.toString("latin1", 0, 16));

function signWithIdentity(message: Uint8Array, identity: PeerIdentity): Buffer {
  const raw = sign(bytesToSign(message, NAMESPACE), identity);
  const inner = Buffer.concat([wireString("ssh-ed25519"), wireString(raw)]);
  return encodeSignature(ed25519Blob(identity.publicKey), NAMESPACE, inner);
}

/** A token waits for a finger, so this takes as long as people do. */
const SSH_TIMEOUT_MS = 120_000;

async function signWithSsh(message: Uint8Array, path: string, context: Context): Promise<Uint8Array> {
  if (findProgram("ssh-keygen", context.env, context.cwd) === null) {
    throw new NutError("SIGNER_MISSING", "signing with an SSH key needs ssh-keygen, which is not installed", {
      hint: "apt-get install openssh-client (or sign with an identity of nutshell keygen --peer)",
    });
  }
  const { code, stdout, stderr } = await runChild({
    command: "ssh-keygen",
    args: ["-q", "-Y", "sign", "-n", NAMESPACE, "-f", path],
    cwd: context.cwd,
    // Without a terminal of its own it could only wait for a passphrase nobody types: the agent is the way.
    env: { ...context.env, SSH_ASKPASS_REQUIRE: "never" },
    stdin: { text: Buffer.from(message).toString("utf8") },
    timeoutMs: SSH_TIMEOUT_MS,
    signal: context.signal,
  });
  const blob = code === 0 ? dearmor(stdout.text) : null;
  if (blob !== null) return blob;
  const said = stderr.text.trim().split("\n").at(-1) ?? "";
  throw new NutError("SIGNER_MISSING", `${path}: ssh-keygen could not sign${said === "" ? "" : `: ${said}`}`, {
    hint: `where it has a passphrase, or lies elsewhere, give it to your agent first: ssh-add ${shellWord(path.replace(/\.pub$/, ""))}`,
    data: { path },
  });
}
