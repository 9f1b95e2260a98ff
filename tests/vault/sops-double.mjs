#!/usr/bin/env node
// Stands in for the sops program where it is not installed: `sops --encrypt --input-type json --output-type json --age R /dev/stdin`.
// Written from sops' file format, apart from the reader in src/: values are AES-256-GCM with a 32-byte nonce and the path of
// keys as additional data; the MAC is SHA-512 over all values in order, encrypted with the time of the last change.
import { createCipheriv, createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { armor, Encrypter } from "age-encryption";

const args = process.argv.slice(2);
const flag = (name) => args[args.indexOf(name) + 1];
if (args[0] !== "--encrypt" || flag("--input-type") !== "json" || flag("--output-type") !== "json") process.exit(100);

const document = JSON.parse(readFileSync(0, "utf8"));
const key = randomBytes(32);
const mac = createHash("sha512");

const seal = (text, type, additional) => {
  const iv = randomBytes(32);
  const cipher = createCipheriv("aes-256-gcm", key, iv);
  cipher.setAAD(Buffer.from(additional));
  const data = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  const parts = [data, iv, cipher.getAuthTag()].map((part) => part.toString("base64"));
  return `ENC[AES256_GCM,data:${parts[0]},iv:${parts[1]},tag:${parts[2]},type:${type}]`;
};

const walk = (value, path) => {
  if (Array.isArray(value)) return value.map((item) => walk(item, path));
  if (value !== null && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, walk(item, [...path, name])]));
  }
  if (value === null) return null;
  const type = { string: "str", number: "float", boolean: "bool" }[typeof value];
  const text = typeof value === "boolean" ? (value ? "True" : "False") : String(value);
  mac.update(text);
  if (path.some((name) => name.endsWith("_unencrypted"))) return value;
  return text === "" ? "" : seal(text, type, `${path.join(":")}:`);
};

const tree = walk(document, []);
const lastmodified = new Date().toISOString().replace(/\.\d+Z$/, "Z");
const age = [];
for (const recipient of flag("--age").split(",")) {
  const encrypter = new Encrypter();
  encrypter.addRecipient(recipient);
  age.push({ recipient, enc: armor.encode(await encrypter.encrypt(key)) });
}
const sops = {
  kms: null,
  age,
  lastmodified,
  mac: seal(mac.digest("hex").toUpperCase(), "str", lastmodified),
  unencrypted_suffix: "_unencrypted",
  version: "3.8.1",
};
process.stdout.write(`${JSON.stringify({ ...tree, sops }, null, 2)}\n`);
