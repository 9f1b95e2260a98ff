// Tar as we write it: ustar, with a PAX record only for what ustar cannot say. Times and owners are zero, modes are
// 0644 or 0755, so the same tree gives the same bytes on every machine.
// Written by hand because strictness is the point: tar libraries drop, repair or reinterpret what must be refused here.

export const BLOCK = 512;
const USTAR_SIZE = 8 * 1024 ** 3;

export interface TarItem {
  readonly path: string;
  readonly size: number;
  readonly executable: boolean;
  readonly kind: "file" | "folder";
}

/** The header blocks that go before an entry's bytes. */
export function encodeHeader(item: TarItem): Buffer {
  const name = item.kind === "folder" ? `${item.path}/` : item.path;
  const split = splitName(name);
  if (split !== null && item.size < USTAR_SIZE) return header(split, item.size, typeOf(item), modeOf(item));
  const records = [
    ...(split === null ? [paxRecord("path", name)] : []),
    ...(item.size >= USTAR_SIZE ? [paxRecord("size", String(item.size))] : []),
  ];
  const body = Buffer.from(records.join(""), "utf8");
  // Readers that know nothing of PAX see a short ASCII stand-in.
  const stand = { name: Buffer.from(asciiName(item.path), "latin1"), prefix: Buffer.alloc(0) };
  return Buffer.concat([
    header({ name: Buffer.from("PaxHeader"), prefix: Buffer.alloc(0) }, body.length, "x", "0000644"),
    body,
    padding(body.length),
    header(split ?? stand, item.size < USTAR_SIZE ? item.size : 0, typeOf(item), modeOf(item)),
  ]);
}

/** Zeros that fill an entry's last block. */
export function padding(size: number): Buffer {
  return ZEROS.subarray(0, paddingSize(size));
}

export function paddingSize(size: number): number {
  return (BLOCK - (size % BLOCK)) % BLOCK;
}

const ZEROS = Buffer.alloc(2 * BLOCK);
/** Two zero blocks: the end of an archive. */
export const END_OF_ARCHIVE: Buffer = ZEROS;

interface SplitName {
  readonly name: Buffer;
  readonly prefix: Buffer;
}

function splitName(path: string): SplitName | null {
  if (!/^[\x20-\x7e]*$/.test(path)) return null;
  if (path.length <= 100) return { name: Buffer.from(path, "latin1"), prefix: Buffer.alloc(0) };
  for (let at = path.indexOf("/"); at >= 0 && at <= 155; at = path.indexOf("/", at + 1)) {
    const rest = path.slice(at + 1);
    if (at > 0 && rest.length > 0 && rest.length <= 100) {
      return { name: Buffer.from(rest, "latin1"), prefix: Buffer.from(path.slice(0, at), "latin1") };
    }
  }
  return null;
}

function asciiName(path: string): string {
  return path
    .replace(/[^\x20-\x7e]/g, "_")
    .slice(-100)
    .replace(/^\/+/, "");
}

const typeOf = (item: TarItem) => (item.kind === "folder" ? "5" : "0");
const modeOf = (item: TarItem) => (item.kind === "folder" || item.executable ? "0000755" : "0000644");

/** What never changes from header to header. */
const TEMPLATE = Buffer.alloc(BLOCK);
for (const at of [108, 116, 329, 337]) TEMPLATE.write("0000000", at, "latin1");
TEMPLATE.write("00000000000", 136, "latin1");
TEMPLATE.write("ustar\u000000", 257, "latin1");

function header({ name, prefix }: SplitName, size: number, type: string, mode: string): Buffer {
  const block = Buffer.from(TEMPLATE);
  name.copy(block, 0);
  block.write(mode, 100, "latin1");
  block.write(size.toString(8).padStart(11, "0"), 124, "latin1");
  block[156] = type.charCodeAt(0);
  prefix.copy(block, 345);
  block.write(`${checksum(block).toString(8).padStart(6, "0")}\u0000 `, 148, "latin1");
  return block;
}

/** Sum of a header's bytes, its own field counted as spaces. */
export function checksum(block: Uint8Array): number {
  let sum = 8 * 32;
  for (let index = 0; index < 148; index += 1) sum += block[index]!;
  for (let index = 156; index < BLOCK; index += 1) sum += block[index]!;
  return sum;
}

function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  let length = bytes + String(bytes).length;
  if (bytes + String(length).length !== length) length = bytes + String(length).length;
  return `${length}${rest}`;
}
