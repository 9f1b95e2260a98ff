// What lies in folders, files and registries, as the chain of each task. What lies there and cannot be read is named and the
// rest goes on; what was asked for by name must be readable, and so must something of a folder or repository.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { MANIFEST_NAME } from "../../bundle/index.js";
import { fromSystemError, NutError, shellWord } from "../../errors.js";
import { clearAway } from "../../files/index.js";
import type { Context } from "../../operation.js";
import { getBundle, getStatements, parseReference } from "../../registry/index.js";
import { Delivery } from "../../schema/delivery.js";
import type { Envelope } from "../../schema/statement.js";
import {
  type Chain,
  chainOf,
  type EnvelopeList,
  MAX_LIST_BYTES,
  type Piece,
  parseEnvelopes,
} from "../../statements/index.js";
import { readWhole, type Whole } from "../open/read-whole.js";
import { withWorkFolder } from "../open/work-folder.js";
import { assertSize, fitting, openRegistry } from "./registry.js";
import { readSignatures } from "./signatures.js";
import { readTrust } from "./trust-files.js";

export interface ChainQuestion {
  /** Folders, bundles and places in registries, as typed. */
  readonly places: readonly string[];
  readonly identity: readonly string[];
  /** The time at which keys must be valid. */
  readonly at: Date;
}

export interface FoundChain extends Chain {
  /** What counts for nothing because it could not be read, and why. */
  readonly unread: readonly { readonly source: string; readonly why: string }[];
}

interface Found {
  readonly pieces: Piece[];
  readonly loose: { readonly source: string; readonly envelope: Envelope }[];
  readonly unread: { readonly source: string; readonly why: string }[];
  /** Why the first of them could not be read. */
  first: NutError | null;
}

/** A folder or repository with more is not one anybody reads as a whole. */
const MOST = 1_000;

export async function findChain({ places, identity, at }: ChainQuestion, context: Context): Promise<FoundChain> {
  const trust = readTrust(context);
  const found: Found = { pieces: [], loose: [], unread: [], first: null };
  for (const place of places) {
    if (place.startsWith("oci://")) await readRegistry(place, found, context);
    else await readPlace(place, identity, found, context);
  }
  const { pieces, loose, unread, first } = found;
  if (first !== null && pieces.length === 0 && loose.length === 0) throw first;
  return { ...chainOf({ pieces, loose, trust, at }), unread };
}

async function readPlace(place: string, identity: readonly string[], found: Found, context: Context): Promise<void> {
  const path = resolve(context.cwd, place);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) throw new NutError("FILE_NOT_FOUND", `${path}: no such file or folder`, { data: { path } });
  const read = async (one: string, source: string) => {
    found.pieces.push(pieceOf(await readWhole(one, identity, context), source, readSignatures(one)));
  };
  if (!stat.isDirectory()) return read(path, place);
  const { bundles, sidecars } = listed(path);
  if (bundles.length === 0 && sidecars.length === 0) {
    throw new NutError("FILE_NOT_FOUND", `${path}: no bundle lies here`, {
      hint: `ls ${shellWord(path)} (bundles end in .nut; a task's own folder holds ${MANIFEST_NAME})`,
      data: { path },
    });
  }
  if (bundles.length + sidecars.length > MOST) throw tooMany(place, "name the bundles you mean instead of the folder");
  const shown = (one: string) => relative(context.cwd, one) || ".";
  for (const one of bundles) await orUnread(shown(one), found, () => read(one, shown(one)));
  for (const one of sidecars) readLoose(one, shown(one), found);
}

function tooMany(place: string, hint: string): NutError {
  return new NutError("USAGE", `${place}: more than ${MOST} bundles`, { hint });
}

/** The folder itself where it is a task's, the bundles and tasks' folders in it, and signatures that lie beside none. */
function listed(path: string): { bundles: string[]; sidecars: string[] } {
  try {
    const names = readdirSync(path).sort();
    const isTask = (folder: string) => existsSync(join(folder, MANIFEST_NAME));
    const inside = names.map((name) => join(path, name));
    const kind = (one: string) => statSync(one, { throwIfNoEntry: false });
    const bundles = inside.filter((one) =>
      one.endsWith(".nut") ? kind(one)?.isFile() : kind(one)?.isDirectory() && isTask(one),
    );
    const own = isTask(path) ? [path] : [];
    const beside = new Set(bundles.map((one) => `${one}.sigs`));
    const sidecars = inside.filter((one) => one.endsWith(".sigs") && !beside.has(one) && kind(one)?.isFile());
    return { bundles: [...own, ...bundles], sidecars };
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
}

/** A bundle that cannot be read says nothing; that is said, and the others are read all the same. */
async function orUnread(source: string, found: Found, read: () => Promise<void>): Promise<void> {
  try {
    await read();
  } catch (error) {
    if (!(error instanceof NutError) || ENDS_ALL.has(error.code)) throw error;
    found.first ??= error;
    found.unread.push({ source, why: error.message });
  }
}

/** Not about one bundle: nothing more can be read, or nothing could be judged. */
const ENDS_ALL: ReadonlySet<string> = new Set([
  "REGISTRY_DENIED",
  "REGISTRY_REFUSED",
  "REGISTRY_UNREACHABLE",
  "TRUST_INVALID",
  "DISK_FULL",
]);

function pieceOf({ manifest, digest, result }: Whole, source: string, signed: EnvelopeList): Piece {
  const { bundle_type: type } = manifest;
  const kind = type === "request" || type === "delivery" ? type : "other";
  const told = kind === "delivery" ? Delivery.safeParse(result === null ? manifest : parse(result)).data : undefined;
  const delivery =
    told === undefined
      ? null
      : {
          status: told.status,
          requestId: told.request_id ?? manifest.request_id,
          request: told.digests?.request,
          result: told.digests?.result,
        };
  const title = manifest.task?.title ?? null;
  const { envelopes, sigstore, rejected } = signed;
  return { kind, id: manifest.id, title, digest, sources: [source], envelopes, sigstore, rejected, delivery };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function readLoose(path: string, source: string, { loose, unread }: Found): void {
  try {
    const bytes = statSync(path).size > MAX_LIST_BYTES ? Buffer.alloc(MAX_LIST_BYTES + 1) : readFileSync(path);
    const { envelopes, sigstore, rejected } = parseEnvelopes(bytes);
    loose.push(...envelopes.map((envelope) => ({ source, envelope })));
    unread.push(...rejected.map(({ why }) => ({ source, why })));
    unread.push(
      ...sigstore.map(() => ({ source, why: "a Sigstore bundle beside no bundle, which was not looked at" })),
    );
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
}

/** What annotations say is anybody's word, so every bundle is fetched and read before it is spoken of. */
async function readRegistry(place: string, found: Found, context: Context): Promise<void> {
  const reference = parseReference(place);
  const registry = openRegistry(reference, context);
  const names = reference.isNamed
    ? [reference.name]
    : (await registry.tags()).filter((tag) => !/^sha256-[0-9a-f]{64}$/.test(tag));
  if (names.length === 0) {
    throw new NutError("REGISTRY_NOT_FOUND", `${place} has no tags`, { hint: `nutshell tags ${shellWord(place)}` });
  }
  if (names.length > MOST) throw tooMany(place, "name the tags you mean");
  const seen = new Map<string, Piece>();
  await withWorkFolder(context, async (folder) => {
    for (const name of names) {
      const source = `oci://${reference.host}/${reference.repository}${name.startsWith("sha256:") ? "@" : ":"}${name}`;
      const read = async () => {
        const { digest, layer } = await getBundle(registry, name);
        const known = seen.get(digest);
        if (known !== undefined) {
          found.pieces.push({ ...known, sources: [source], rejected: [] });
          return;
        }
        assertSize(layer.size, source);
        const file = join(folder, "bundle.nut");
        try {
          await registry.blobs.getFile(layer, file);
          const signed = { ...fitting(await getStatements(registry, digest)), rejected: [] };
          const piece = pieceOf(await readWhole(file, null, context), source, signed);
          seen.set(digest, piece);
          found.pieces.push(piece);
        } finally {
          clearAway(file);
        }
      };
      await (reference.isNamed ? read() : orUnread(source, found, read));
    }
  });
}
