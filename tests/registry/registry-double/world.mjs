// What the double holds, what it was told, and what it saw.
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";

export const options = {
  /** Whether the referrers API is there, and how many rows a page has. */
  referrers: true,
  page: 100,
  /** null, "basic", "bearer" or a whole WWW-Authenticate header. */
  auth: null,
  user: "user",
  password: "secret",
  /** Blobs are given by the storage host. */
  redirect: false,
  /** Uploads go to the storage host. */
  uploadElsewhere: false,
  mounts: true,
  ranges: true,
  minChunk: 0,
  /** { on, method, path, times, after, status, headers, body, drop, cut, flip, replace, gzip }: the first that fits and has times left. */
  faults: [],
};

export const world = {
  ports: {},
  /** repository → { blobs: Map, manifests: Map(digest → { bytes, type }), tags: Map } */
  repositories: new Map(),
  uploads: new Map(),
  tokens: new Set(),
  log: [],
};

export function repositoryOf(name) {
  if (!world.repositories.has(name)) {
    world.repositories.set(name, { blobs: new Map(), manifests: new Map(), tags: new Map() });
  }
  return world.repositories.get(name);
}

export const digestOf = (bytes) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

export function logged(on, { method, url, headers }) {
  const { authorization = null, range = null, "content-range": contentRange = null } = headers;
  world.log.push({ on, method, url, authorization, range, contentRange });
}

export function faultFor(on, { method }, { pathname }) {
  const fault = options.faults.find(
    (one) =>
      (one.on ?? "registry") === on &&
      (one.method ?? method) === method &&
      new RegExp(one.path ?? ".").test(pathname) &&
      (one.times ?? 1) > 0,
  );
  if (fault === undefined) return null;
  if ((fault.after ?? 0) > 0) {
    fault.after -= 1;
    return null;
  }
  fault.times = (fault.times ?? 1) - 1;
  return fault;
}

/** gzip: "always", or "asked" where nobody said that they want the bytes as they are. */
export function coded(fault, { headers }, bytes) {
  const isCoded = fault.gzip === "always" || (fault.gzip === "asked" && headers["accept-encoding"] !== "identity");
  return isCoded ? { bytes: gzipSync(bytes), more: { "Content-Encoding": "gzip" } } : { bytes, more: {} };
}

async function bodyOf(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts);
}

/** set: options; log: what was asked since; put: a manifest as it is, right or wrong. */
export async function answerControl(request, response) {
  const body = JSON.parse((await bodyOf(request)).toString("utf8") || "{}");
  let answer = {};
  if (request.url === "/set") Object.assign(options, body);
  else if (request.url === "/log") answer = world.log.splice(0);
  else if (request.url === "/put") {
    const bytes = Buffer.from(body.text, "utf8");
    const held = repositoryOf(body.repository);
    held.manifests.set(digestOf(bytes), { bytes, type: body.type });
    if (body.tag !== undefined) held.tags.set(body.tag, digestOf(bytes));
    if (body.blob !== undefined) held.blobs.set(digestOf(Buffer.from(body.blob)), Buffer.from(body.blob));
    answer = { digest: digestOf(bytes) };
  }
  response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(answer));
}
