// Whether a bundle is sealed, at the edge of every command that reads one.
import { closeSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { Readable } from "node:stream";
import { fromSystemError } from "../../errors.js";
import type { Context } from "../../operation.js";
import { isSealed, SEALED_MAX_BYTES } from "../../vault/index.js";

const MAGIC_BYTES = 4;
/** Above the limit by more than any header, so that one read too many tells. */
const MAX_FILE_BYTES = SEALED_MAX_BYTES + 1024;

/**
 * The bundle itself, whether it was sealed or not. A sealed one is opened with the named keys, or with one's own; anything
 * else passes untouched, a folder too. Throws BUNDLE_SEALED when there is no key or none fits.
 */
export async function unsealed<Source extends string | Readable>(
  source: Source,
  identity: readonly string[],
  context: Where,
): Promise<Source | Readable> {
  if (typeof source === "string") {
    if (!isSealedFile(source)) return source;
    const { openSealedFile, tooLarge } = await sealing();
    if (statSync(source).size > MAX_FILE_BYTES) throw tooLarge();
    return openSealedFile(readFileSync(source), { identity, name: source }, context);
  }
  const parts: Buffer[] = [];
  let length = 0;
  const pieces = source[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const pull = async () => {
    const { value, done } = await pieces.next();
    if (done === true) return false;
    parts.push(Buffer.from(value));
    length += parts.at(-1)!.length;
    return true;
  };
  while (length < MAGIC_BYTES && (await pull()));
  if (!isSealed(Buffer.concat(parts))) return Readable.from(chain(parts, pieces), { objectMode: false });
  const { openSealedFile, tooLarge } = await sealing();
  while (await pull()) if (length > MAX_FILE_BYTES) throw tooLarge();
  return openSealedFile(Buffer.concat(parts), { identity, name: null }, context);
}

/** Whether a path names a sealed bundle. Throws when nothing is there. */
export const isSealedFile = (path: string): boolean => isSealed(firstBytes(path));

/** Its cryptography is loaded for what is sealed. */
const sealing = () => import("./sealing.js");

/** Where names of files are looked up, and one's own keys. */
export type Where = Pick<Context, "cwd" | "env">;

async function* chain(first: readonly Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield* first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

function firstBytes(path: string): Buffer {
  let file: number;
  try {
    // Whatever is not a regular file is left to the bundle's own reader, which names it.
    if (!statSync(path).isFile()) return Buffer.alloc(0);
    file = openSync(path, "r");
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
  try {
    const bytes = Buffer.alloc(MAGIC_BYTES);
    return bytes.subarray(0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}
