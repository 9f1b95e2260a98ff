import { randomUUID } from "node:crypto";
import { isAllowed, sendBlob, takeUpload } from "./others.mjs";
import { digestOf, options, repositoryOf, world } from "./world.mjs";

const INDEX = "application/vnd.oci.image.index.v1+json";
const ROUTE = /^\/v2\/(.+?)\/(blobs\/uploads\/?|blobs|manifests|tags\/list|referrers)(?:\/([^/]+))?\/?$/;

const error = (response, status, code) =>
  response
    .writeHead(status, { "Content-Type": "application/json" })
    .end(JSON.stringify({ errors: [{ code, message: code.toLowerCase() }] }));

export async function registry(request, response, url, fault) {
  const [, name, kind, last] = ROUTE.exec(url.pathname) ?? [];
  if (!isAllowed(request, response, name)) return request.resume();
  if (url.pathname === "/v2/") return response.writeHead(200).end("{}");
  if (name === undefined) return error(response, 404, "UNSUPPORTED");
  const held = repositoryOf(name);
  if (kind.startsWith("blobs/uploads")) return uploads({ request, response, url, fault, name, held, id: last });
  if (kind === "blobs") return blob({ request, response, fault, held, digest: last });
  if (kind === "manifests") return manifest({ request, response, fault, held, name, reference: last });
  if (kind === "tags/list") return tags({ response, url, held, name });
  return referrers({ response, url, held, name, digest: last });
}

function blob({ request, response, fault, held, digest }) {
  const bytes = held.blobs.get(digest);
  if (bytes === undefined) return error(response, 404, "BLOB_UNKNOWN");
  if (request.method === "HEAD") {
    return response.writeHead(200, { "Content-Length": bytes.length, "Docker-Content-Digest": digest }).end();
  }
  if (options.redirect) {
    const location = `http://127.0.0.1:${world.ports.storage}/data/${digest}?permission=in-the-address`;
    world.storage ??= new Map();
    world.storage.set(digest, bytes);
    return response.writeHead(307, { Location: location }).end();
  }
  return sendBlob({ request, response, bytes, digest, fault });
}

async function uploads({ request, response, url, fault, name, held, id }) {
  if (request.method === "POST") {
    const [mount, from] = [url.searchParams.get("mount"), url.searchParams.get("from")];
    const shared = mount === null || !options.mounts ? undefined : repositoryOf(from).blobs.get(mount);
    if (mount !== null && options.mounts === "lie") return response.writeHead(201).end();
    if (shared !== undefined) {
      held.blobs.set(mount, shared);
      return response.writeHead(201, { Location: `/v2/${name}/blobs/${mount}` }).end();
    }
    const key = randomUUID();
    const home = options.uploadElsewhere ? `http://127.0.0.1:${world.ports.storage}` : "";
    world.uploads.set(key, { bytes: Buffer.alloc(0), place: `${home}/v2/${name}/blobs/uploads/${key}?state=0`, held });
    const least = options.minChunk > 0 ? { "OCI-Chunk-Min-Length": String(options.minChunk) } : {};
    return response.writeHead(202, { Location: world.uploads.get(key).place, ...least }).end();
  }
  return takeUpload({ request, response, url, fault, id });
}

async function manifest({ request, response, fault, held, name, reference }) {
  if (request.method === "PUT") {
    const parts = [];
    for await (const part of request) parts.push(part);
    const bytes = Buffer.concat(parts);
    const digest = digestOf(bytes);
    if (reference.startsWith("sha256:") && reference !== digest) return error(response, 400, "DIGEST_INVALID");
    const parsed = JSON.parse(bytes.toString("utf8"));
    if (parsed.mediaType !== request.headers["content-type"]) return error(response, 400, "MANIFEST_INVALID");
    const wanted = [parsed.config, ...(parsed.layers ?? [])].filter((row) => row !== undefined);
    if (wanted.some((row) => !held.blobs.has(row.digest))) return error(response, 404, "MANIFEST_BLOB_UNKNOWN");
    held.manifests.set(digest, { bytes, type: parsed.mediaType });
    if (!reference.startsWith("sha256:")) held.tags.set(reference, digest);
    const subject = options.referrers && parsed.subject !== undefined ? { "OCI-Subject": parsed.subject.digest } : {};
    const headers = { Location: `/v2/${name}/manifests/${digest}`, "Docker-Content-Digest": digest, ...subject };
    return response.writeHead(201, headers).end();
  }
  const digest = reference.startsWith("sha256:") ? reference : held.tags.get(reference);
  const found = held.manifests.get(digest);
  if (found === undefined) return error(response, 404, "MANIFEST_UNKNOWN");
  const bytes = fault.replace === undefined ? found.bytes : Buffer.from(fault.replace);
  if (fault.huge !== undefined)
    return response.writeHead(200, { "Content-Type": found.type }).end(Buffer.alloc(fault.huge, 32));
  response.writeHead(200, {
    "Content-Type": found.type,
    "Content-Length": bytes.length,
    "Docker-Content-Digest": digest,
  });
  response.end(request.method === "HEAD" ? undefined : bytes);
}

function tags({ response, url, held, name }) {
  const all = [...held.tags.keys()].sort();
  if (all.length === 0) return error(response, 404, "NAME_UNKNOWN");
  const last = url.searchParams.get("last");
  const rest = last === null ? all : all.filter((tag) => tag > last);
  const page = rest.slice(0, Math.min(options.page, Number(url.searchParams.get("n") ?? options.page)));
  const next = `</v2/${name}/tags/list?n=${options.page}&last=${page.at(-1)}>; rel="next"`;
  const headers = { "Content-Type": "application/json", ...(page.length < rest.length ? { Link: next } : {}) };
  response.writeHead(200, headers).end(JSON.stringify({ name, tags: page }));
}

function referrers({ response, url, held, name, digest }) {
  if (!options.referrers) return error(response, 404, "UNSUPPORTED");
  const rows = [...held.manifests]
    .map(([own, { bytes }]) => ({ own, bytes, parsed: tryParse(bytes) }))
    .filter(({ parsed }) => parsed?.subject?.digest === digest)
    .map(({ own, bytes, parsed }) => ({
      mediaType: parsed.mediaType,
      digest: own,
      size: bytes.length,
      artifactType: parsed.artifactType ?? parsed.config?.mediaType,
      ...(parsed.annotations === undefined ? {} : { annotations: parsed.annotations }),
    }));
  const from = Number(url.searchParams.get("from") ?? 0);
  const page = rows.slice(from, from + options.page);
  const isMore = from + page.length < rows.length;
  const next = `</v2/${name}/referrers/${digest}?from=${from + page.length}>; rel="next"`;
  const body = JSON.stringify({ schemaVersion: 2, mediaType: INDEX, manifests: page });
  response.writeHead(200, { "Content-Type": INDEX, ...(isMore ? { Link: next } : {}) }).end(body);
}

function tryParse(bytes) {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return null;
  }
}
