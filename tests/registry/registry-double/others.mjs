// Who is let in, the token server, and the storage host that blobs may come from and go to.
import { randomUUID } from "node:crypto";
import { coded, digestOf, options, world } from "./world.mjs";

const basic = () => `Basic ${Buffer.from(`${options.user}:${options.password}`).toString("base64")}`;

export function isAllowed({ headers }, response, name) {
  if (options.auth === null) return true;
  const given = headers.authorization ?? "";
  if (given === basic() && options.auth !== "bearer") return true;
  if (given.startsWith("Bearer ") && world.tokens.has(given.slice(7)) && options.auth !== "basic") return true;
  const realm = `http://127.0.0.1:${world.ports.tokens}/token`;
  const challenge = {
    basic: 'Basic realm="double"',
    bearer: `Bearer realm="${realm}",service="double",scope="repository:${name}:pull"`,
    both: `Negotiate, Basic realm="double", Bearer realm="${realm}",service="double"`,
  };
  const header = challenge[options.auth] ?? options.auth;
  response.writeHead(401, { "WWW-Authenticate": header }).end('{"errors":[{"code":"UNAUTHORIZED"}]}');
  return false;
}

/** GET with a password, POST with a refresh token; whoever brings neither gets a visitor's token where that is allowed. */
export async function tokens(request, response, url) {
  const parts = [];
  for await (const part of request) parts.push(part);
  const form = new URLSearchParams(Buffer.concat(parts).toString("utf8"));
  const isRefresh = request.method === "POST" && form.get("refresh_token") === options.password;
  const isKnown = isRefresh || request.headers.authorization === basic();
  if (!isKnown && !(options.visitors && request.headers.authorization === undefined)) {
    return response.writeHead(401).end("{}");
  }
  const token = randomUUID();
  world.tokens.add(token);
  const scope = isRefresh ? form.get("scope") : url.searchParams.getAll("scope");
  world.log.push({ on: "tokens", scope, service: url.searchParams.get("service") ?? form.get("service") });
  response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify({ token, expires_in: 300 }));
}

export async function storage(request, response, url, fault) {
  const digest = /^\/data\/(sha256:[0-9a-f]{64})$/.exec(url.pathname)?.[1];
  if (digest === undefined) {
    return takeUpload({ request, response, url, fault, id: url.pathname.split("/").at(-1) });
  }
  return sendBlob({ request, response, bytes: world.storage.get(digest), digest, fault });
}

export function sendBlob({ request, response, bytes, digest, fault }) {
  const at = options.ranges ? Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0) : 0;
  const body = Buffer.from(bytes.subarray(at));
  if (fault.flip !== undefined) body[fault.flip] ^= 1;
  const sent = fault.more === undefined ? body : Buffer.concat([body, Buffer.alloc(fault.more)]);
  const { bytes: whole, more } = coded(fault, request, sent);
  const headers = { "Content-Length": whole.length, "Docker-Content-Digest": digest, ...more };
  if (at > 0) headers["Content-Range"] = `bytes ${at}-${bytes.length - 1}/${bytes.length}`;
  response.writeHead(at > 0 ? 206 : 200, headers);
  if (fault.cut === undefined) return response.end(whole);
  response.write(whole.subarray(0, fault.cut), () => setTimeout(() => response.destroy(), 20));
}

/** PATCH adds a chunk that fits, GET says how far it is, PUT ends it, DELETE gives it up. */
export async function takeUpload({ request, response, url, fault, id }) {
  const upload = world.uploads.get(id);
  if (upload === undefined) {
    request.resume();
    return response.writeHead(404).end('{"errors":[{"code":"BLOB_UPLOAD_UNKNOWN"}]}');
  }
  const range = () => ({ Location: upload.place, Range: `0-${Math.max(0, upload.bytes.length - 1)}` });
  if (request.method === "GET") return response.writeHead(204, range()).end();
  if (request.method === "DELETE") return world.uploads.delete(id) && response.writeHead(204).end();
  const [, from] = /^(\d+)-\d+$/.exec(request.headers["content-range"] ?? "") ?? [];
  if (from !== undefined && Number(from) !== upload.bytes.length) {
    request.resume();
    return response.writeHead(416, range()).end();
  }
  const before = upload.bytes.length;
  for await (const part of request) {
    upload.bytes = Buffer.concat([upload.bytes, part]);
    if (fault.cut !== undefined && upload.bytes.length - before >= fault.cut) {
      upload.bytes = upload.bytes.subarray(0, before + fault.cut);
      if (fault.forget) world.uploads.delete(id);
      return request.socket.destroy();
    }
  }
  if (request.method === "PATCH") {
    if (options.minChunk > 0) upload.chunks = [...(upload.chunks ?? []), upload.bytes.length - before];
    return response.writeHead(202, range()).end();
  }
  const digest = url.searchParams.get("digest");
  world.uploads.delete(id);
  if (digestOf(upload.bytes) !== digest) return response.writeHead(400).end('{"errors":[{"code":"DIGEST_INVALID"}]}');
  upload.held.blobs.set(digest, upload.bytes);
  if (fault.silent) return request.socket.destroy();
  response.writeHead(201, { Location: `/v2/blobs/${digest}` }).end();
}
