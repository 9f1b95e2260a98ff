// Builds archives byte by byte, so that tests can make what no honest tool would write.
import { gzipSync } from "node:zlib";

export interface Forged {
  readonly name?: string | Buffer;
  readonly data?: string | Buffer;
  readonly type?: string;
  readonly mode?: string;
  readonly uid?: string;
  readonly mtime?: string | Buffer;
  readonly size?: number | string | Buffer;
  readonly prefix?: string;
  readonly linkname?: string;
  readonly magic?: string;
  readonly checksum?: number;
}

const BLOCK = 512;

export function header(item: Forged): Buffer {
  const block = Buffer.alloc(BLOCK);
  const put = (value: string | Buffer, at: number) =>
    typeof value === "string" ? block.write(value, at) : value.copy(block, at);
  put(item.name ?? "file.txt", 0);
  put(item.mode ?? "0000644\0", 100);
  put(item.uid ?? "0000000\0", 108);
  put("0000000\0", 116);
  const size = item.size ?? Buffer.byteLength((item.data ?? "") as string);
  put(typeof size === "number" ? `${size.toString(8).padStart(11, "0")}\0` : size, 124);
  put(item.mtime ?? "00000000000\0", 136);
  put(item.type ?? "0", 156);
  put(item.linkname ?? "", 157);
  put(item.magic ?? "ustar\u000000", 257);
  put(item.prefix ?? "", 345);
  block.fill(0x20, 148, 156);
  let sum = 0;
  for (const byte of block) sum += byte;
  put(`${(item.checksum ?? sum).toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

export function entry(item: Forged): Buffer {
  const data = Buffer.from((item.data ?? "") as string);
  const fill = (BLOCK - (data.length % BLOCK)) % BLOCK;
  return Buffer.concat([header(item), data, Buffer.alloc(fill)]);
}

export function paxBody(records: readonly (readonly [string, string | Buffer])[]): Buffer {
  return Buffer.concat(
    records.map(([key, value]) => {
      const rest = Buffer.concat([Buffer.from(` ${key}=`), Buffer.from(value as string), Buffer.from("\n")]);
      let length = rest.length + String(rest.length).length;
      if (String(length).length !== String(rest.length).length) length = rest.length + String(length).length;
      return Buffer.concat([Buffer.from(String(length)), rest]);
    }),
  );
}

export const pax = (records: readonly (readonly [string, string | Buffer])[], type = "x"): Buffer =>
  entry({ name: "PaxHeader", type, data: paxBody(records) });

export const longName = (name: string, type = "L"): Buffer =>
  entry({ name: "././@LongLink", type, data: `${name}\0`, magic: "ustar  \0" });

export const END: Buffer = Buffer.alloc(2 * BLOCK);
export const MAGIC: Buffer = Buffer.from("NUT\x01", "latin1");

export const MANIFEST = {
  nutshell_version: "0.2.0",
  bundle_type: "request",
  id: "nut-00000000-0000-4000-8000-000000000000",
  task: { title: "a task", summary: "what to do" },
};

export const manifest = (extra: object | string = {}): Buffer =>
  entry({
    name: "nutshell.json",
    data: typeof extra === "string" ? extra : JSON.stringify({ ...MANIFEST, ...extra }),
  });

/** An archive with a manifest, the given parts, and an end. */
export const archive = (...parts: readonly Buffer[]): Buffer => Buffer.concat([manifest(), ...parts, END]);

/** A gzip bundle around any bytes, quickly: nobody looks how small it is. */
export const nut = (tar: Buffer): Buffer => Buffer.concat([MAGIC, gzipSync(tar, { level: 1 })]);
