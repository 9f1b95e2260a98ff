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
  const plain = Buffer.allocUnsafe(BLOCK);
  if (writeHeader(item, plain, 0)) return plain;
  const name = nameOf(item);
  const split = splitName(name);
  const records = [
    ...(split === null ? [paxRecord("path", name)] : []),
    ...(item.size >= USTAR_SIZE ? [paxRecord("size", String(item.size))] : []),
  ];
  const body = Buffer.from(records.join(""), "utf8");
  const blocks = Buffer.alloc(BLOCK + body.length + paddingSize(body.length) + BLOCK);
  fill(blocks, 0, { name: "PaxHeader", prefix: "" }, body.length, "x", "0000644");
  body.copy(blocks, BLOCK);
  // Readers that know nothing of PAX see a short ASCII stand-in.
  const shown = split ?? { name: asciiName(item.path), prefix: "" };
  const size = item.size < USTAR_SIZE ? item.size : 0;
  fill(blocks, blocks.length - BLOCK, shown, size, typeOf(item), modeOf(item));
  return blocks;
}

/** Writes the one header block of an entry that needs no more; false when it does. */
export function writeHeader(item: TarItem, target: Buffer, at: number): boolean {
  const split = item.size < USTAR_SIZE ? splitName(nameOf(item)) : null;
  if (split === null) return false;
  fill(target, at, split, item.size, typeOf(item), modeOf(item));
  return true;
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
  readonly name: string;
  readonly prefix: string;
}

function splitName(path: string): SplitName | null {
  if (!/^[\x20-\x7e]*$/.test(path)) return null;
  if (path.length <= 100) return { name: path, prefix: "" };
  for (let at = path.indexOf("/"); at >= 0 && at <= 155; at = path.indexOf("/", at + 1)) {
    const rest = path.slice(at + 1);
    if (at > 0 && rest.length > 0 && rest.length <= 100) return { name: rest, prefix: path.slice(0, at) };
  }
  return null;
}

function asciiName(path: string): string {
  return path
    .replace(/[^\x20-\x7e]/g, "_")
    .slice(-100)
    .replace(/^\/+/, "");
}

const nameOf = (item: TarItem) => (item.kind === "folder" ? `${item.path}/` : item.path);
const typeOf = (item: TarItem) => (item.kind === "folder" ? "5" : "0");
const modeOf = (item: TarItem) => (item.kind === "folder" || item.executable ? "0000755" : "0000644");

/** What never changes from header to header. */
const TEMPLATE = Buffer.alloc(BLOCK);
for (const at of [108, 116, 329, 337]) TEMPLATE.write("0000000", at, "latin1");
TEMPLATE.write("00000000000", 136, "latin1");
TEMPLATE.write("ustar\u000000", 257, "latin1");

function fill(target: Buffer, at: number, { name, prefix }: SplitName, size: number, type: string, mode: string): void {
  TEMPLATE.copy(target, at);
  target.write(name, at, "latin1");
  target.write(mode, at + 100, "latin1");
  writeOctal(target, at + 124, 11, size);
  target[at + 156] = type.charCodeAt(0);
  if (prefix !== "") target.write(prefix, at + 345, "latin1");
  writeOctal(target, at + 148, 6, checksum(target, at));
  target[at + 154] = 0;
  target[at + 155] = 0x20;
}

function writeOctal(target: Buffer, at: number, digits: number, value: number): void {
  let left = value;
  for (let index = at + digits - 1; index >= at; index -= 1) {
    target[index] = 0x30 + (left % 8);
    left = Math.floor(left / 8);
  }
}

/** Sum of a header's bytes, its own field counted as spaces. */
export function checksum(bytes: Uint8Array, at = 0): number {
  let sum = 8 * 32;
  for (let index = at; index < at + 148; index += 1) sum += bytes[index]!;
  for (let index = at + 156; index < at + BLOCK; index += 1) sum += bytes[index]!;
  return sum;
}

function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  let length = bytes + String(bytes).length;
  if (bytes + String(length).length !== length) length = bytes + String(length).length;
  return `${length}${rest}`;
}
