// What a worker hands back: a delivery that is packed already, or the folder it was made in.
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Manifest, readManifest, unpackBundle, writeManifest } from "../../../bundle/index.js";
import { NutError, shellWord } from "../../../errors.js";
import type { Context } from "../../../operation.js";
import { readDelivery } from "../../../request/apply/delivered.js";
import { withWorkFolder } from "../../../request/open/work-folder.js";
import { leakList, leaksIn } from "../../../request/pack/leak-guard.js";
import { isSealedFile } from "../../../request/pack/sealed.js";
import { recordPacked } from "../../../request/records/consent-record.js";
import { lastMarketRow } from "../../../request/records/market-record.js";
import { type Delivery, RESULT_FILE } from "../../../schema/delivery.js";
import { parsePeer, sealBundle } from "../../../vault/index.js";
import { packBytes } from "./market-bundle.js";

export interface DoneWork {
  /** As it is named in a command. */
  readonly label: string;
  readonly requestId: string;
  readonly deliveryId: string;
  readonly clawnet: { readonly task_id?: unknown; readonly sealed?: unknown };
  /** Content digest of the request it was made from, when it says so. */
  readonly madeFrom: string | undefined;
  /** From 0 to 1; not a number when nothing says how complete the work is. */
  readonly rating: number;
  /** Where a copy of what is sent goes; null when what is sent is the file itself. */
  copyPath(sealed: boolean): string | null;
  /** What is sent, sealed for the peer when there is one. */
  bytes(peer: string | undefined): Promise<Buffer>;
  /** After the network took it. */
  sent(): void;
}

interface WorkInput {
  /** A .nut file or a folder. */
  readonly path: string;
  /** Paths that may go although they look like secrets. */
  readonly allow: readonly string[];
  /** The command that was typed, about something else, or with more allowed. */
  readonly again: (words: string, changed?: { readonly allow: readonly string[] }) => string;
}

/** `me` is who delivers: the id of a folder's delivery follows from it. */
export function openWork({ path: typed, ...how }: WorkInput, me: string, context: Context): Promise<DoneWork> {
  const path = resolve(context.cwd, typed);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new NutError("FILE_NOT_FOUND", `${path}: no such file or folder`, { data: { path } });
  return found.isDirectory()
    ? Promise.resolve(folderWork({ path, ...how }, me, context, typed))
    : bundleWork({ path, ...how }, context, typed);
}

async function bundleWork({ path, allow, again }: WorkInput, context: Context, label: string): Promise<DoneWork> {
  if (isSealedFile(path)) {
    throw new NutError("MARKET_NOT_READY", `${path} is sealed, so nobody can tell what is delivered`, {
      hint: "deliver the file it was sealed from: what must be sealed for the author is sealed on the way",
    });
  }
  const { manifest, delivery } = await lookInside(path, { allow, again, label }, context);
  return {
    ...factsOf(manifest, delivery, path),
    label: shellWord(label),
    copyPath: (sealed) => (sealed ? path.replace(/(?:\.nut)?$/, ".sealed.nut") : null),
    bytes: async (peer) => {
      const bytes = readFileSync(path);
      return peer === undefined ? bytes : Buffer.from(sealBundle(bytes, parsePeer(peer)));
    },
    sent: () => {},
  };
}

/** Everything is checked on the way out of the bundle, and looked at as `pack` would before it leaves. */
function lookInside(
  path: string,
  { allow, again, label }: Omit<WorkInput, "path"> & { readonly label: string },
  context: Context,
) {
  return withWorkFolder(context, async (work) => {
    const { dir, manifest } = await unpackBundle(path, join(work, "delivery"), {
      signal: context.signal,
      trustAll: true,
    });
    if (manifest.bundle_type !== "delivery") throw notADelivery(path, manifest, again("done.nut"));
    const guard = manifest.extensions?.leak_guard as { allowed?: readonly string[] } | undefined;
    const leaks = await leaksIn(dir, { allow: [...allow, ...(guard?.allowed ?? [])] });
    if (leaks.length > 0) {
      throw new NutError("LEAK_FOUND", `what looks like a secret would be sent: ${leakList(leaks)}`, {
        hint: `take the risk: ${again(shellWord(label), { allow: [...allow, leaks[0]!.path] })}`,
        data: { leaks },
      });
    }
    return { manifest, delivery: readDelivery(dir, manifest, path) };
  });
}

const notADelivery = (path: string, { bundle_type }: Manifest, then: string) =>
  new NutError("MARKET_NOT_READY", `${path} is a ${bundle_type}, not a delivery`, {
    hint: `nexus run ${shellWord(path)} -o done.nut   then: ${then}`,
  });

function folderWork({ path: folder, allow, again }: WorkInput, me: string, context: Context, label: string): DoneWork {
  const manifest = readManifest(folder);
  const delivery = asDelivery(manifest, me);
  // A delivery's manifest may say how the work ended all by itself.
  const said = manifest.bundle_type === "delivery" && manifest.status !== undefined;
  if (!said && !isThere(join(folder, RESULT_FILE))) {
    throw unfinished({ folder, label, request: delivery.request_id, deliver: again("done.nut") }, context);
  }
  let digest: string | null = null;
  return {
    ...factsOf(delivery, readDelivery(folder, delivery), folder),
    label: `--dir ${shellWord(label)}`,
    copyPath: () => `${folder}.delivery.nut`,
    bytes: async (peer) => {
      const packed = await packBytes({ folder, manifest: delivery, peer, allow }, context);
      digest = packed.digest;
      return packed.bytes;
    },
    sent: () => {
      if (digest !== null) recordPacked(folder, digest, context);
      writeManifest(folder, delivery);
    },
  };
}

const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

interface Unfinished {
  readonly folder: string;
  readonly label: string;
  readonly request: string | undefined;
  readonly deliver: string;
}

function unfinished({ folder, label, request, deliver }: Unfinished, { env }: Context): NutError {
  const kept = lastMarketRow(env, "claimed", (row) => row.request === request)?.kept;
  const name = kept !== undefined && isThere(kept) ? shellWord(kept) : "<request.nut>";
  return new NutError("MARKET_NOT_READY", `${folder} has no ${RESULT_FILE}: nothing says what was done`, {
    hint: `nutshell finish ${shellWord(label)} --request ${name} -o done.nut   then: ${deliver}`,
    data: { path: folder },
  });
}

function factsOf(manifest: Manifest, delivery: Delivery, path: string) {
  const requestId = delivery.request_id ?? manifest.request_id;
  if (requestId === undefined) {
    throw new NutError("MARKET_NOT_READY", `${path} does not say which request it answers`, {
      hint: `nutshell check ${shellWord(path)}`,
    });
  }
  return {
    requestId,
    deliveryId: manifest.id,
    clawnet: (manifest.extensions?.clawnet ?? {}) as DoneWork["clawnet"],
    madeFrom: delivery.digests?.request,
    rating: (delivery.completion_percentage ?? Number.NaN) / 100,
  };
}

/** The manifest as it is sent. The id follows from request and worker, so that a second try is the same delivery. */
function asDelivery(manifest: Manifest, me: string): Manifest {
  if (manifest.bundle_type === "delivery") return manifest;
  const digest = createHash("sha256").update(`${manifest.id}\n${me}`).digest("hex");
  const id = `nut-${[digest.slice(0, 8), digest.slice(8, 12), digest.slice(12, 16), digest.slice(16, 20), digest.slice(20, 32)].join("-")}`;
  return { ...manifest, bundle_type: "delivery", id, request_id: manifest.id, parent_id: manifest.id };
}
