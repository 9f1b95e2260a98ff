// Keys for tests: real ones from ssh-keygen, and a token that lives in this process.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { NAMESPACE } from "../../src/schema/statement.js";
import {
  bytesToSign,
  dearmor,
  ed25519Blob,
  encodeSignature,
  type Signer,
  wireString,
} from "../../src/statements/index.js";

export const hasSshKeygen = spawnSync("ssh-keygen", ["-?"]).error === undefined;

/** Makes a key pair with ssh-keygen; returns the private key's path. */
export function sshKey(folder: string, name: string, type: readonly string[] = ["ed25519"]): string {
  const path = join(folder, name);
  const [kind, bits] = type;
  const args = ["-q", "-t", kind!, ...(bits === undefined ? [] : ["-b", bits]), "-N", "", "-C", name, "-f", path];
  execFileSync("ssh-keygen", args);
  return path;
}

export const publicLine = (path: string): string => readFileSync(`${path}.pub`, "utf8").trim();

/** Signs as a person would in a shell. */
export function sshSign(path: string, message: Uint8Array, namespace: string = NAMESPACE): Buffer {
  const args = ["-Y", "sign", "-n", namespace, "-f", path];
  return dearmor(execFileSync("ssh-keygen", args, { input: message, stdio: ["pipe", "pipe", "ignore"] }).toString())!;
}

export interface SshVerify {
  readonly folder: string;
  readonly allowed: string;
  readonly armored: string;
  readonly message: Uint8Array;
  readonly namespace?: string;
}

/** What `ssh-keygen -Y verify` says. */
export function sshVerify({ folder, allowed, armored, message, namespace = NAMESPACE }: SshVerify): boolean {
  const [file, sig] = [join(folder, "allowed"), join(folder, "sig")];
  writeFileSync(file, allowed);
  writeFileSync(sig, armored);
  const args = ["-Y", "verify", "-n", namespace, "-I", "alice@example.org", "-f", file, "-s", sig];
  return spawnSync("ssh-keygen", args, { input: message }).status === 0;
}

interface OwnKey {
  readonly line: string;
  readonly sign: Signer;
}

/** An Ed25519 key of this process, for tests that need many signatures and no program. */
export function ownKey(namespace: string = NAMESPACE): OwnKey {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const blob = ed25519Blob(rawPublic(publicKey));
  return {
    line: `ssh-ed25519 ${blob.toString("base64")}`,
    sign: async (message) => {
      const raw = sign(null, bytesToSign(message, namespace), privateKey);
      return encodeSignature(blob, namespace, Buffer.concat([wireString("ssh-ed25519"), wireString(raw)]));
    },
  };
}

const rawPublic = (key: KeyObject): Buffer => Buffer.from(key.export({ format: "jwk" }).x!, "base64url");

/** A hardware token as OpenSSH's PROTOCOL.u2f describes its signatures; `flags` 1 says that somebody touched it. */
export function token(kind: "ed25519" | "ecdsa", flags = 1, application = "ssh:"): OwnKey {
  const type = kind === "ed25519" ? "sk-ssh-ed25519@openssh.com" : "sk-ecdsa-sha2-nistp256@openssh.com";
  const { publicKey, privateKey } =
    kind === "ed25519" ? generateKeyPairSync("ed25519") : generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwk = publicKey.export({ format: "jwk" });
  const point =
    kind === "ed25519"
      ? [wireString(rawPublic(publicKey))]
      : [
          wireString("nistp256"),
          wireString(
            Buffer.concat([Buffer.from([4]), Buffer.from(jwk.x!, "base64url"), Buffer.from(jwk.y!, "base64url")]),
          ),
        ];
  const blob = Buffer.concat([wireString(type), ...point, wireString(application)]);
  const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest();
  return {
    line: `${type} ${blob.toString("base64")}`,
    sign: async (message) => {
      const tail = Buffer.from([flags, 0, 0, 0, 7]);
      const signed = Buffer.concat([sha256(application), tail, sha256(bytesToSign(message, NAMESPACE))]);
      const raw =
        kind === "ed25519"
          ? sign(null, signed, privateKey)
          : mpints(sign("sha256", signed, { key: privateKey, dsaEncoding: "ieee-p1363" }));
      return encodeSignature(blob, NAMESPACE, Buffer.concat([wireString(type), wireString(raw), tail]));
    },
  };
}

function mpints(plain: Buffer): Buffer {
  const half = plain.length / 2;
  return Buffer.concat(
    [plain.subarray(0, half), plain.subarray(half)].map((part) => {
      let at = 0;
      while (at < part.length - 1 && part[at] === 0) at += 1;
      const short = part.subarray(at);
      return wireString(short[0]! >= 0x80 ? Buffer.concat([Buffer.from([0]), short]) : short);
    }),
  );
}

export const hasSshAgent = spawnSync("ssh-add", ["-h"]).error === undefined;

/** An agent of its own that holds one key, ended by its process. */
export async function sshAgent(folder: string, key: string): Promise<{ socket: string; stop: () => void }> {
  const socket = join(folder, "agent.sock");
  const child = spawn("ssh-agent", ["-D", "-a", socket], { stdio: "ignore" });
  for (let tries = 0; tries < 100 && !existsSync(socket); tries += 1) await sleep(50);
  execFileSync("ssh-add", ["-q", key], { env: { ...process.env, SSH_AUTH_SOCK: socket }, stdio: "ignore" });
  return { socket, stop: () => void child.kill() };
}
