// sops JSON files. With an age key they are read natively: each value is AES-256-GCM with its path as additional data, and
// the whole is checked against the file's MAC. Those with a cloud service's key are sops-cloud.ts's. Written by the `sops`
// program itself, so that its configuration keeps its say.
import { createDecipheriv, createHash, timingSafeEqual } from "node:crypto";
import type { Node, ParseError } from "jsonc-parser";
import { NutError } from "../errors.js";
import { ageDecrypt } from "./age.js";
import type { Backend, Keys } from "./backend.js";
import { jsonShape } from "./json.js";
import { isCloudOnly, openWithSops } from "./sops-cloud.js";

interface Metadata {
  /** sops writes null for none. */
  readonly age?: readonly { readonly recipient?: string; readonly enc?: string }[] | null;
  readonly lastmodified?: string;
  readonly mac?: string;
  readonly mac_only_encrypted?: boolean;
}

/** sha256("sops"): what sops starts the MAC with when it covers encrypted values only, so that the two kinds never agree. */
const ONLY_ENCRYPTED_START = createHash("sha256").update("sops").digest();
const VALUE = /^ENC\[AES256_GCM,data:([^,]*),iv:([^,]+),tag:([^,]+),type:([a-z0-9]+)\]$/;

export const sopsBackend: Backend = {
  name: "sops",
  recognises: (bytes) => isMetadata(jsonShape(bytes)?.sops),
  async open(bytes, keys) {
    const metadata = jsonShape(bytes)!.sops as Metadata;
    if (isCloudOnly(metadata)) return openWithSops(bytes, metadata, await rootOf(bytes), keys);
    const dataKey = await openDataKey(metadata, keys);
    const mac = createHash("sha512");
    if (metadata.mac_only_encrypted === true) mac.update(ONLY_ENCRYPTED_START);
    const plain = decryptTree(await rootOf(bytes), dataKey, (value, encrypted) => {
      if (encrypted || metadata.mac_only_encrypted !== true) mac.update(value);
    });
    checkMac(metadata, dataKey, mac.digest("hex").toUpperCase());
    return Buffer.from(plain, "utf8");
  },
  async seal(plain, { recipients = [] }, keys) {
    if (recipients.length === 0) {
      throw new NutError("IDENTITY_MISSING", "sops needs an age recipient", {
        hint: "name one: --recipient '<age1…>'",
      });
    }
    const args = [
      "--encrypt",
      "--input-type",
      "json",
      "--output-type",
      "json",
      "--age",
      recipients.join(","),
      "/dev/stdin",
    ];
    const result = (await keys.run?.("sops", args, plain)) ?? null;
    if (result === null) {
      throw new NutError("VAULT_BACKEND", "writing a sops vault needs the sops program, which is not installed", {
        hint: "install sops, or take another kind: --encryption age",
      });
    }
    if (result.status !== 0 || !isMetadata(jsonShape(result.stdout)?.sops)) {
      throw new NutError("VAULT_BACKEND", `sops could not encrypt the vault (exit ${result.status})`, {
        hint: "sops --version, and the recipients: nutshell rotate --recipient '<age1…>'",
      });
    }
    return result.stdout;
  },
  async targetOf(bytes) {
    const { age } = jsonShape(bytes)!.sops as Metadata;
    return { recipients: (age ?? []).map(({ recipient }) => recipient).filter((recipient) => recipient !== undefined) };
  },
};

function isMetadata(value: unknown): value is Metadata {
  return typeof value === "object" && value !== null && "mac" in value;
}

async function openDataKey({ age: stated }: Metadata, keys: Keys): Promise<Uint8Array> {
  const age = stated ?? [];
  if (age.length === 0)
    throw new NutError(
      "VAULT_BACKEND",
      "this sops vault has no key of age or of a cloud service; others are not read",
      {
        hint: "ask the publisher to add an age key: sops --add-age '<age1…>'",
      },
    );
  if (keys.identities.length === 0) throw noKey("no identity is at hand");
  for (const { enc } of age) {
    try {
      const key = await ageDecrypt(Buffer.from(enc ?? "", "latin1"), { identities: keys.identities });
      if (key.length !== 32) throw damaged("its data key has a wrong length");
      return key;
    } catch (error) {
      // The next stanza may be the one our identity opens; real damage is not hidden by trying it.
      if (!(error instanceof NutError && error.code === "VAULT_NO_MATCHING_KEY")) throw error;
    }
  }
  throw noKey("none of the identities at hand opens it");
}

/** A parser that keeps the order of keys as written: the MAC depends on it, and JavaScript objects sort number-like keys. */
async function rootOf(bytes: Uint8Array): Promise<Node> {
  const { parseTree } = await import("jsonc-parser");
  const errors: ParseError[] = [];
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
  const root = parseTree(text, errors, { disallowComments: true });
  if (root === undefined || errors.length > 0) throw damaged("it is not JSON");
  return root;
}

type OnValue = (plain: Uint8Array, encrypted: boolean) => void;

/** The tree in clear, as JSON text: objects are never built, so no key can be special. */
function decryptTree(root: Node, key: Uint8Array, onValue: OnValue): string {
  const visit = (node: Node, path: readonly string[]): string => {
    if (node.type === "object") return `{${members(node, path, visit)}}`;
    if (node.type === "array") return `[${(node.children ?? []).map((item) => visit(item, path)).join(",")}]`;
    if (node.type === "null") return "null";
    return leaf(node.value as string | number | boolean, path, key, onValue);
  };
  return visit(root, []);
}

function members(node: Node, path: readonly string[], visit: (node: Node, path: readonly string[]) => string): string {
  const fields = new Set<string>();
  const parts: string[] = [];
  for (const property of node.children ?? []) {
    const [name, value] = property.children ?? [];
    if (name === undefined || value === undefined) throw damaged("it is not JSON");
    const field = name.value as string;
    if (fields.has(field)) throw damaged("a field stands twice");
    fields.add(field);
    if (path.length === 0 && field === "sops") continue;
    parts.push(`${JSON.stringify(field)}:${visit(value, [...path, field])}`);
  }
  return parts.join(",");
}

function leaf(value: string | number | boolean, path: readonly string[], key: Uint8Array, onValue: OnValue): string {
  if (typeof value === "string" && value.startsWith("ENC[")) {
    const { bytes, type } = decryptValue(value, key, `${path.join(":")}:`);
    onValue(bytes, true);
    return asJson(bytes, type);
  }
  onValue(Buffer.from(asSopsText(value), "utf8"), false);
  return JSON.stringify(value);
}

function decryptValue(text: string, key: Uint8Array, additional: string): { bytes: Buffer; type: string } {
  const match = VALUE.exec(text);
  if (match === null) throw damaged("a value is not in sops' form");
  const [data, iv, tag] = match.slice(1, 4).map((part) => Buffer.from(part, "base64"));
  try {
    // A short tag is easier to guess; GCM would accept one if its length were not said.
    const decipher = createDecipheriv("aes-256-gcm", key, iv!, { authTagLength: 16 });
    decipher.setAAD(Buffer.from(additional, "utf8"));
    decipher.setAuthTag(tag!);
    return { bytes: Buffer.concat([decipher.update(data!), decipher.final()]), type: match[4]! };
  } catch {
    throw damaged("a value was changed or moved");
  }
}

function asJson(bytes: Buffer, type: string): string {
  const text = bytes.toString("utf8");
  if (type === "str" || type === "time" || type === "bytes") return JSON.stringify(text);
  if (type === "bool" && /^(true|false)$/i.test(text)) return text.toLowerCase();
  if ((type === "int" || type === "int64" || type === "float") && Number.isFinite(Number(text)))
    return String(Number(text));
  throw damaged(`a value has the unknown type ${type}`);
}

/** How sops writes a value into the MAC; booleans in title case, as its first version in Python did. */
function asSopsText(value: string | number | boolean): string {
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string" || Number.isSafeInteger(value)) return String(value);
  return value.toLocaleString("en-US", { useGrouping: false, maximumFractionDigits: 100 });
}

function checkMac({ mac, lastmodified }: Metadata, key: Uint8Array, computed: string): void {
  if (typeof mac !== "string" || typeof lastmodified !== "string") throw damaged("it has no MAC");
  const stated = decryptValue(mac, key, lastmodified).bytes;
  const expected = Buffer.from(computed, "ascii");
  if (stated.length !== expected.length || !timingSafeEqual(stated, expected))
    throw damaged("its MAC does not fit its content");
}

function damaged(why: string): NutError {
  return new NutError("VAULT_DAMAGED", `the sops vault is damaged or was changed: ${why}`);
}

function noKey(why: string): NutError {
  return new NutError("VAULT_NO_MATCHING_KEY", `the vault stays closed: ${why}`, {
    hint: "nutshell credentials --identity '<file>'",
  });
}
