// age files, by the age-encryption library. Added here: bounds on what a hostile header may cost, and refusals with codes.
import type { Decrypter } from "age-encryption";
import { NutError } from "../errors.js";
import { x25519Identity } from "./age-identity.js";
import { passphraseIdentity, passphraseRecipient } from "./age-passphrase.js";
import { headerEnd, openPayload } from "./age-payload.js";
import { readSecretFile, writeSecretFile } from "./secret-file.js";

/** scrypt at 2^18 takes about a second and 256 MB; 2^20 takes six and four times the memory, at a stranger's wish. */
export const SCRYPT_MAX_LOG_N = 18;
/** One X25519 step per stanza and identity: 512 recipients are more than any team, 10,000 are an attack. */
export const MAX_STANZAS = 512;

/** Loaded at the first use: commands that only look for leaks or list names should not pay for it at start-up. */
let loading: Promise<typeof import("age-encryption")> | null = null;
const library = () => (loading ??= import("age-encryption"));

const INTRO = "age-encryption.org/v1\n";
const ARMOR_INTRO = "-----BEGIN AGE ENCRYPTED FILE-----";

export interface AgeKeys {
  readonly identities: readonly string[];
  /** Called only for a file that a passphrase opens; null when nobody can be asked. */
  readonly passphrase?: () => Promise<string | null>;
}

export type AgeTarget =
  | { readonly recipients: readonly string[]; readonly armored?: boolean }
  | { readonly passphrase: string; readonly armored?: boolean; readonly logN?: number };

export interface AgeHeader {
  readonly passphrase: boolean;
  readonly stanzas: number;
}

export function isAge(bytes: Uint8Array): boolean {
  return startsWith(bytes, INTRO) || isArmored(bytes);
}

/** How a file was encrypted, read from its header without any key. */
export async function readAgeHeader(file: Uint8Array): Promise<AgeHeader> {
  return readHeader(await dearmor(file));
}

function readHeader(bytes: Uint8Array): AgeHeader {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 4 << 20));
  const end = start.indexOf("\n---");
  const header = start.toString("latin1", 0, end < 0 ? start.length : end);
  const stanzas = header.split("\n").filter((line) => line.startsWith("-> "));
  const costs = stanzas.map((line) => /^-> scrypt \S+ (\d+)$/.exec(line)?.[1]).filter((cost) => cost !== undefined);
  if (costs.some((cost) => Number(cost) > SCRYPT_MAX_LOG_N)) {
    throw new NutError("VAULT_COSTLY", `the passphrase work factor is above 2^${SCRYPT_MAX_LOG_N}; refused`, {
      hint: "ask the publisher to encrypt it again with a lower work factor",
      data: { limit: SCRYPT_MAX_LOG_N },
    });
  }
  if (stanzas.length > MAX_STANZAS) {
    throw new NutError("VAULT_COSTLY", `encrypted for ${stanzas.length} recipients; at most ${MAX_STANZAS} are read`, {
      hint: "ask the publisher to encrypt it for fewer recipients",
      data: { stanzas: stanzas.length, limit: MAX_STANZAS },
    });
  }
  return { passphrase: stanzas.some((line) => line.startsWith("-> scrypt ")), stanzas: stanzas.length };
}

/** Throws VAULT_NO_MATCHING_KEY when no key fits, VAULT_DAMAGED when the file is not what was encrypted. */
export async function ageDecrypt(file: Uint8Array, keys: AgeKeys): Promise<Uint8Array> {
  const binary = await dearmor(file);
  const bytes = Buffer.from(binary.buffer, binary.byteOffset, binary.length);
  const header = readHeader(bytes);
  const { Decrypter } = await library();
  const decrypter = new Decrypter();
  for (const identity of keys.identities) addIdentity(decrypter, identity);
  if (header.passphrase) {
    const passphrase = (await keys.passphrase?.()) ?? null;
    if (passphrase === null && keys.identities.length === 0) throw needsPassphrase();
    if (passphrase !== null) decrypter.addIdentity(passphraseIdentity(passphrase, SCRYPT_MAX_LOG_N));
  } else if (keys.identities.length === 0) {
    throw noKey("no identity is at hand");
  }
  try {
    const end = headerEnd(bytes) ?? bytes.length;
    const fileKey = await decrypter.decryptHeader(bytes.subarray(0, end));
    return openPayload(bytes.subarray(end), fileKey);
  } catch (cause) {
    // The library has one class for everything; this sentence is pinned by a test.
    const words = cause instanceof Error ? cause.message : "";
    if (words.includes("no identity matched")) throw noKey("none of the identities at hand opens it");
    throw new NutError("VAULT_DAMAGED", "the encrypted file is damaged or was changed", { cause });
  }
}

export async function ageEncrypt(plain: Uint8Array, target: AgeTarget): Promise<Uint8Array> {
  const { armor, Encrypter } = await library();
  const encrypter = new Encrypter();
  if ("passphrase" in target) {
    encrypter.addRecipient(passphraseRecipient(target.passphrase, target.logN ?? SCRYPT_MAX_LOG_N));
  } else {
    if (target.recipients.length === 0)
      throw new NutError("IDENTITY_MISSING", "nobody to encrypt for", {
        hint: "add who shall open it: --recipient '<age1…>'",
      });
    for (const recipient of new Set(target.recipients)) encrypter.addRecipient(await checkRecipient(recipient));
  }
  const file = await encrypter.encrypt(plain);
  return target.armored ? Buffer.from(armor.encode(file), "ascii") : file;
}

/** A recipient as it is typed. A secret key in its place is refused without repeating it. */
export async function checkRecipient(text: string): Promise<string> {
  const refuse = (message: string) => new NutError("IDENTITY_INVALID", message, { hint: "nutshell keygen" });
  if (/^age-secret-key-/i.test(text)) throw refuse("a recipient is a public key (age1…), not a secret one");
  if (!text.startsWith("age1")) throw refuse(`"${text.slice(0, 80)}" is not an age recipient (age1…)`);
  const { Encrypter } = await library();
  try {
    new Encrypter().addRecipient(text);
    return text;
  } catch {
    throw refuse(`"${text.slice(0, 80)}" is not an age recipient (age1…)`);
  }
}

export interface AgeIdentity {
  readonly identity: string;
  readonly recipient: string;
}

export async function generateAgeIdentity(): Promise<AgeIdentity> {
  const identity = await (await library()).generateX25519Identity();
  return { identity, recipient: await recipientOf(identity) };
}

export async function recipientOf(identity: string): Promise<string> {
  try {
    return await (await library()).identityToRecipient(identity);
  } catch {
    throw badIdentity();
  }
}

/** The form age-keygen writes, so that either tool's file serves both. */
export function writeAgeIdentityFile(path: string, { identity, recipient }: AgeIdentity, createdAt: Date): void {
  writeSecretFile(path, `# created: ${createdAt.toISOString()}\n# public key: ${recipient}\n${identity}\n`);
}

export function readAgeIdentityFile(path: string): readonly string[] {
  const identities = parseAgeIdentities(readSecretFile(path).toString("utf8"));
  if (identities !== null) return identities;
  throw new NutError("IDENTITY_INVALID", `${path}: not an age identity file (lines of AGE-SECRET-KEY-1…)`, {
    hint: "nutshell keygen -o identity.txt",
    data: { path },
  });
}

/** null when the text holds anything but comments and identities. */
export function parseAgeIdentities(text: string): readonly string[] | null {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "" && !line.startsWith("#"));
  return lines.length > 0 && lines.every(isAgeIdentity) ? lines : null;
}

/** The form alone; its checksum is looked at when it is used. */
function isAgeIdentity(line: string): boolean {
  return /^AGE-SECRET-KEY-(PQ-)?1[02-9AC-HJ-NP-Z]{58,}$/.test(line);
}

function addIdentity(decrypter: Decrypter, identity: string): void {
  try {
    decrypter.addIdentity(x25519Identity(identity) ?? identity);
  } catch {
    throw badIdentity();
  }
}

/** The library's own words would repeat the key. */
function badIdentity(): NutError {
  return new NutError("IDENTITY_INVALID", "an age identity is misspelt: its checksum does not fit", {
    hint: "copy the whole line of the key file again, or make a new one: nutshell keygen",
  });
}

async function dearmor(file: Uint8Array): Promise<Uint8Array> {
  if (!isArmored(file)) return file;
  const { armor } = await library();
  try {
    return armor.decode(Buffer.from(file.buffer, file.byteOffset, file.length).toString("latin1"));
  } catch (cause) {
    throw new NutError("VAULT_DAMAGED", "the armored file is damaged or was changed", { cause });
  }
}

function isArmored(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1024)).toString("latin1");
  return start.trimStart().startsWith(ARMOR_INTRO);
}

function startsWith(bytes: Uint8Array, text: string): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, text.length)).toString("latin1") === text;
}

function noKey(why: string): NutError {
  return new NutError("VAULT_NO_MATCHING_KEY", `the vault stays closed: ${why}`, {
    hint: "nutshell credentials --identity '<file>'",
  });
}

function needsPassphrase(): NutError {
  return new NutError("NO_TERMINAL", "this vault opens with a passphrase and nobody can be asked", {
    hint: "put it in NUTSHELL_PASSPHRASE, or run the command in a terminal",
  });
}
