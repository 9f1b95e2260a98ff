// Where the market meets bundles, seals and verification.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { type Packed, unpackBundle } from "../../../bundle/index.js";
import type { Context } from "../../../operation.js";
import { recordUnpacked } from "../../../request/consent-record.js";
import { packBundle } from "../../../request/pack-bundle.js";
import { unsealed } from "../../../request/sealed.js";
import type { Manifest } from "../../../schema/manifest.js";
import { isSealed } from "../../../vault/index.js";
import { verifyDelivery } from "../acceptance/verify.js";

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
  const how = { compression: "gzip", level: "default", force: false } as const;
  return packBundle({ dir: folder, manifest, output, peer, allow, ...how }, context);
}

/** The same as bytes: what the network gets appears on disk only when the caller keeps it. */
export async function packBytes(request: Omit<MarketPack, "output">, context: Context): Promise<Buffer> {
  const scratch = mkdtempSync(join(tmpdir(), "nutshell-market-"));
  try {
    const output = join(scratch, "bundle.nut");
    await packForMarket({ ...request, output }, context);
    return readFileSync(output);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

interface Received {
  readonly bytes: Buffer;
  readonly identity?: string | undefined;
}

/** Opens and unpacks what came from the network. */
export async function unpackForMarket(
  { bytes, identity, dir }: Received & { dir: string },
  context: Context,
): Promise<void> {
  const source = await unsealed(Readable.from([bytes], { objectMode: false }), identity, context);
  const { contentDigest } = await unpackBundle(source, dir, { signal: context.signal });
  recordUnpacked(dir, contentDigest, context);
}

interface VerifyRequest extends Received {
  readonly file: string;
  readonly request?: string | undefined;
  readonly rerun: boolean;
  readonly yes: boolean;
  readonly allowOrigin: string[];
}

/** Nothing is believed on somebody's word where money is paid for it. */
const PLAIN = { identity: [], allow: [], keepBodies: false, quick: false, noSandbox: false, require: [], sign: false };

/** Verifies a delivery; a sealed one is opened into a folder that is gone afterwards. */
export async function verifyForMarket(input: VerifyRequest, context: Context) {
  const { bytes, identity, file, request, rerun, yes, allowOrigin } = input;
  const scratch = mkdtempSync(join(tmpdir(), "nutshell-receive-"));
  try {
    const opened = join(scratch, "delivery");
    if (isSealed(bytes)) await unpackForMarket({ bytes, identity, dir: opened }, context);
    const delivery = isSealed(bytes) ? opened : file;
    return await verifyDelivery({ delivery, request, rerun, yes, allowOrigin, ...PLAIN }, context);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
