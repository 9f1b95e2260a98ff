// PAX records: `length key=value\n`. Only path and size change what we do; what could change it in a way we do not
// follow (links, sparse maps, other character sets) is refused; the rest (times, owners, comments) is ignored.
import { NutError } from "../../errors.js";

export interface PaxOptions {
  readonly global: boolean;
  readonly offset: number;
}

const HARMFUL_GLOBALLY: ReadonlySet<string> = new Set(["path", "size", "linkpath", "hdrcharset"]);

export function parsePax(body: Buffer, { global, offset }: PaxOptions): { path?: string; size?: number } {
  const result: { path?: string; size?: number } = {};
  const keys = new Set<string>();
  for (let at = 0; at < body.length; ) {
    const { key, value, next } = record(body, at, offset);
    at = next;
    if (keys.has(key)) throw bad(`an extended header gives "${key}" twice`, offset);
    keys.add(key);
    if (global && HARMFUL_GLOBALLY.has(key)) throw bad(`a global header sets "${key}" for every entry`, offset);
    if (key === "path") result.path = name(value, offset);
    else if (key === "size") result.size = size(value, offset);
    else if (key === "linkpath") throw bad("an extended header makes a link", offset);
    else if (key.startsWith("GNU.sparse.")) throw bad("an extended header makes a sparse file", offset);
    else if (key === "hdrcharset" && value.toString("latin1") !== "ISO-IR 10646 2000 UTF-8") {
      throw bad("an extended header is not in UTF-8", offset);
    }
  }
  return result;
}

function record(body: Buffer, at: number, offset: number): { key: string; value: Buffer; next: number } {
  const space = body.indexOf(0x20, at);
  const digits = space < 0 ? "" : body.toString("latin1", at, space);
  if (!/^[1-9][0-9]{0,6}$/.test(digits)) throw bad("an extended header's length is malformed", offset);
  const next = at + Number(digits);
  const equals = body.indexOf(0x3d, space);
  if (next > body.length || body[next - 1] !== 0x0a || equals < 0 || equals >= next - 1 || equals === space + 1) {
    throw bad("an extended header's record is malformed", offset);
  }
  return { key: body.toString("utf8", space + 1, equals), value: body.subarray(equals + 1, next - 1), next };
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function name(value: Buffer, offset: number): string {
  if (value.includes(0)) throw bad("an extended header's path has a NUL in it", offset);
  try {
    return decoder.decode(value);
  } catch {
    throw bad("an extended header's path is not valid UTF-8", offset);
  }
}

function size(value: Buffer, offset: number): number {
  const digits = value.toString("latin1");
  const parsed = Number(digits);
  if (!/^[0-9]{1,16}$/.test(digits) || !Number.isSafeInteger(parsed)) {
    throw bad("an extended header's size is not a number", offset);
  }
  return parsed;
}

function bad(message: string, offset: number): NutError {
  return new NutError("BUNDLE_UNSAFE_ENTRY", `${message} (at byte ${offset} of the archive)`, {
    data: { offset },
  });
}
