import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";

/** A line longer than this is not a message but an attack or a bug. */
const LINE_LIMIT = 16 * 1024 * 1024;

/** Calls `onLine` for every line of a stream; a line over the limit is cut there and its rest dropped. */
export function readLines(stream: Readable, onLine: (line: string) => void, limit = LINE_LIMIT): void {
  const decoder = new StringDecoder("utf8");
  let parts: string[] = [];
  let length = 0;
  const keep = (text: string) => {
    if (length < limit) parts.push(text.slice(0, limit - length));
    length += text.length;
  };
  const flush = () => {
    const line = parts.join("");
    parts = [];
    length = 0;
    onLine(line.endsWith("\r") ? line.slice(0, -1) : line);
  };
  stream.on("data", (chunk: Buffer) => {
    const pieces = decoder.write(chunk).split("\n");
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) flush();
      keep(piece);
    }
  });
  stream.once("end", () => {
    keep(decoder.end());
    if (length > 0) flush();
  });
}
