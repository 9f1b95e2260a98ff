// Where the market meets bundles, seals and verification.
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { type Packed, unpackBundle } from "../../../bundle/index.js";
import { clearAway } from "../../../files/index.js";
import type { Context } from "../../../operation.js";
import { packUnrecorded } from "../../../request/pack/pack-bundle.js";
import { unsealed } from "../../../request/pack/sealed.js";
import { recordUnpacked } from "../../../request/records/consent-record.js";
import type { Manifest } from "../../../schema/manifest.js";
import { type Verification, verifyDelivery } from "../acceptance/verify.js";

interface MarketPack {
  readonly folder: string;
  /** Packed instead of the folder's own, which changes only when the network has taken the bundle. */
  readonly manifest: Manifest;
  readonly output: string;
  readonly peer?: string | undefined;
  readonly allow: readonly string[];
}

/** Packs as `pack` does: complete, guarded against leaks, sealed when meant for one peer. */
function packForMarket({ folder, manifest, output, peer, allow }: MarketPack, context: Context): Promise<Packed> {
  const how = { compression: "gzip", level: "default" } as const;
  return packUnrecorded({ dir: folder, manifest, output, peer, allow, ...how }, context);
}

/** The same as bytes: what the network gets appears on disk only when the caller keeps it. */
export async function packBytes(
  request: Omit<MarketPack, "output">,
  context: Context,
): Promise<{ readonly bytes: Buffer; readonly digest: string }> {
  const scratch = mkdtempSync(join(tmpdir(), "nutshell-market-"));
  try {
    const output = join(scratch, "bundle.nut");
    const { contentDigest } = await packForMarket({ ...request, output }, context);
    return { bytes: readFileSync(output), digest: contentDigest };
  } finally {
    clearAway(scratch);
  }
}

interface Received {
  readonly bytes: Buffer;
  readonly identity?: string | undefined;
}

/** Opens and unpacks what came from the network; returns its content digest. */
export async function unpackForMarket(
  { bytes, identity, dir }: Received & { dir: string },
  context: Context,
): Promise<string> {
  const source = await unsealed(
    Readable.from([bytes], { objectMode: false }),
    identity === undefined ? [] : [identity],
    context,
  );
  const { contentDigest } = await unpackBundle(source, dir, { signal: context.signal });
  recordUnpacked(dir, contentDigest, context);
  return contentDigest;
}

interface VerifyRequest {
  readonly file: string;
  readonly identity: string | undefined;
  readonly request: string | undefined;
  readonly rerun: boolean;
  readonly yes: boolean;
  readonly allowOrigin: string[];
  readonly allowInstall: boolean;
}

/** Nothing is believed on somebody's word where money is paid for it. */
const PLAIN = { allow: [], keepBodies: false, quick: false, noSandbox: false, require: [], sign: false };

/** Verifies a delivery, sealed or not. */
export function verifyForMarket({ file, identity, ...rest }: VerifyRequest, context: Context): Promise<Verification> {
  const keys = identity === undefined ? [] : [identity];
  return verifyDelivery({ delivery: file, identity: keys, ...rest, ...PLAIN }, context);
}
