#!/usr/bin/env node
// Stands in for the sops program where it is not installed: `sops --encrypt --input-type json --output-type json --age R /dev/stdin`,
// the same with `--kms ARN`, and `--decrypt` of what that wrote. The cloud service is a key in STAND_IN_KMS (hex); without it there is no login.
// Written from sops' file format, apart from the reader in src/: values are AES-256-GCM with a 32-byte nonce and the path of
// keys as additional data; the MAC is SHA-512 over all values in order, encrypted with the time of the last change.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { armor, Encrypter } from "age-encryption";

const args = process.argv.slice(2);
const flag = (name) => args[args.indexOf(name) + 1];
const isKnown = args[0] === "--encrypt" || args[0] === "--decrypt";
if (!isKnown || flag("--input-type") !== "json" || flag("--output-type") !== "json") process.exit(100);

const document = JSON.parse(readFileSync(0, "utf8"));
const cloud = () => Buffer.from(process.env.STAND_IN_KMS ?? "", "hex");
if (args[0] === "--decrypt") decrypt(document);
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
for (const recipient of args.includes("--age") ? flag("--age").split(",") : []) {
  const encrypter = new Encrypter();
  encrypter.addRecipient(recipient);
  age.push({ recipient, enc: armor.encode(await encrypter.encrypt(key)) });
}
const sops = {
  kms: args.includes("--kms")
    ? [{ arn: flag("--kms"), created_at: lastmodified, enc: wrap(key), aws_profile: "" }]
    : null,
  age: age.length === 0 ? null : age,
  lastmodified,
  mac: seal(mac.digest("hex").toUpperCase(), "str", lastmodified),
  unencrypted_suffix: "_unencrypted",
  version: "3.8.1",
};
process.stdout.write(`${JSON.stringify({ ...tree, sops }, null, 2)}\n`);

function wrap(dataKey) {
  const iv = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", cloud(), iv);
  const data = Buffer.concat([cipher.update(dataKey), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), data]).toString("base64");
}

function unseal(key, iv, tag, data, additional) {
  const decipher = createDecipheriv("aes-256-gcm", key, iv);
  if (additional !== null) decipher.setAAD(Buffer.from(additional));
  decipher.setAuthTag(tag);
  return Buffer.concat([decipher.update(data), decipher.final()]);
}

function decrypt({ sops, ...tree }) {
  if (cloud().length !== 32) {
    process.stderr.write("Failed to get the data key required to decrypt the SOPS file.\n");
    process.exit(128);
  }
  const bytes = Buffer.from(sops.kms[0].enc, "base64");
  const dataKey = unseal(cloud(), bytes.subarray(0, 12), bytes.subarray(12, 28), bytes.subarray(28), null);
  const sum = createHash("sha512");
  const value = (text, additional) => {
    const [, data, iv, tag, type] = /^ENC\[AES256_GCM,data:(.*),iv:(.*),tag:(.*),type:(.*)\]$/.exec(text);
    const parts = [iv, tag, data].map((part) => Buffer.from(part, "base64"));
    return { plain: unseal(dataKey, ...parts, additional).toString(), type };
  };
  const open = (item, path) => {
    if (Array.isArray(item)) return item.map((one) => open(one, path));
    if (item !== null && typeof item === "object")
      return Object.fromEntries(Object.entries(item).map(([name, one]) => [name, open(one, [...path, name])]));
    if (typeof item !== "string" || !item.startsWith("ENC[")) {
      if (item !== null) sum.update(String(item));
      return item;
    }
    const { plain, type } = value(item, `${path.join(":")}:`);
    sum.update(plain);
    return type === "float" ? Number(plain) : type === "bool" ? plain === "True" : plain;
  };
  const plain = open(tree, []);
  if (value(sops.mac, sops.lastmodified).plain !== sum.digest("hex").toUpperCase()) process.exit(51);
  process.stdout.write(`${JSON.stringify(plain, null, 2)}\n`);
  process.exit(0);
}
