// Stands in for HashiCorp Vault's transit engine, written from its HTTP API: encrypt, decrypt and rewrap of one key with
// versions, tokens and namespaces. Says its port on the first line of its output. Odd tokens ask for odd behaviour.
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";

const keys = new Map();
const requests = [];
const versionsOf = (name) => {
  if (!keys.has(name)) keys.set(name, [randomBytes(32)]);
  return keys.get(name);
};
const encrypt = (name, base64) => {
  const versions = versionsOf(name);
  const iv = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", versions.at(-1), iv);
  const data = Buffer.concat([cipher.update(Buffer.from(base64, "base64")), cipher.final()]);
  return `vault:v${versions.length}:${Buffer.concat([iv, cipher.getAuthTag(), data]).toString("base64")}`;
};
const decrypt = (name, ciphertext) => {
  const [, version, body] = /^vault:v(\d+):(.+)$/.exec(ciphertext);
  const bytes = Buffer.from(body, "base64");
  const decipher = createDecipheriv("aes-256-gcm", versionsOf(name)[Number(version) - 1], bytes.subarray(0, 12));
  decipher.setAuthTag(bytes.subarray(12, 28));
  return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString("base64");
};

const handle = async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  const answer = (status, body, headers = {}) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  };
  if (request.url === "/requests") return answer(200, requests);
  const token = request.headers["x-vault-token"];
  requests.push({ url: request.url, namespace: request.headers["x-vault-namespace"] ?? null, token });
  if (token === "t-denied") return answer(403, { errors: ["permission denied"] });
  if (token === "t-broken") return answer(503, { errors: ["Vault is sealed"] });
  if (token === "t-away") return answer(307, {}, { location: `http://127.0.0.2:1${request.url}` });
  if (token === "t-moved" && !request.url.includes("moved"))
    return answer(307, {}, { location: `${request.url}?moved=1` });
  if (token === "t-circle") return answer(307, {}, { location: request.url });
  if (token === "t-half") {
    response.writeHead(200, { "content-length": "1000" });
    response.write('{"data":');
    return setTimeout(() => response.destroy(), 20);
  }
  if (token === "t-html") return response.end("<html>");
  if (!["t-good", "t-moved"].includes(token)) return answer(400, { errors: ["missing client token"] });
  const [, mount, action, name] = /^\/v1\/(.+)\/(encrypt|decrypt|rewrap|rotate)\/([^/?]+)/.exec(request.url) ?? [];
  if (mount !== "transit") return answer(404, { errors: ["no handler for route"] });
  if (action === "rotate") return answer(204, versionsOf(name).push(randomBytes(32)));
  const body = JSON.parse(Buffer.concat(parts).toString());
  try {
    if (action === "encrypt") return answer(200, { data: { ciphertext: encrypt(name, body.plaintext) } });
    if (action === "decrypt") return answer(200, { data: { plaintext: decrypt(name, body.ciphertext) } });
    return answer(200, { data: { ciphertext: encrypt(name, decrypt(name, body.ciphertext)) } });
  } catch {
    // The real one repeats nothing either, but a careless proxy might.
    return answer(400, { errors: [`invalid ciphertext: ${JSON.stringify(body)}`] });
  }
};
const { TLS_KEY, TLS_CERT } = process.env;
const server =
  TLS_KEY === undefined
    ? createServer(handle)
    : createSecureServer({ key: readFileSync(TLS_KEY), cert: readFileSync(TLS_CERT) }, handle);
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
