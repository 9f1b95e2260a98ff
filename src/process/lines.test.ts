import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { expect, it } from "vitest";
import { readLines } from "./lines.js";

async function lines(chunks: readonly (string | Buffer)[], limit?: number): Promise<string[]> {
  const seen: string[] = [];
  const stream = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  readLines(stream, (line) => seen.push(line), limit);
  await finished(stream);
  return seen;
}

it("joins what arrives in pieces, characters included", async () => {
  const [left, right] = [Buffer.from("é").subarray(0, 1), Buffer.from("é").subarray(1)];
  expect(await lines(["a", "b\nc\r\n\n", left, right, "\nlast"])).toEqual(["ab", "c", "", "é", "last"]);
});

it("cuts an endless line instead of keeping it", async () => {
  expect(await lines(["0123456789", "0123456789\nok\n"], 5)).toEqual(["01234", "ok"]);
});
