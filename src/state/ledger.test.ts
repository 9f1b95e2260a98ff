import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { LedgerBroken, LedgerFile } from "./ledger.js";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nut-ledger-"));
  path = join(folder, "tasks.json.ledger");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const filled = () => LedgerFile.use(path, (file) => file.append(file.create("base"), { item: { id: 1 } }));

it("a ledger that was put back to an older state is broken, not a bug", () => {
  const head = filled();
  LedgerFile.use(path, (file) => {
    expect(file.entries(head)).toEqual([[1, { item: { id: 1 } }]]);
    expect(() => file.entries(head, head.end + 155)).toThrow(LedgerBroken);
    expect(() => file.entries({ ...head, end: 2 ** 40 })).toThrow(LedgerBroken);
  });
});

it.each([
  ['"end":', '"end":"'],
  ['"last":1', '"last":-'],
  ['"voids":[]', '"voids":7'],
  ['"placing":null', '"placing":[]'],
])("a head in which %s became %s is none", (from, to) => {
  filled();
  const text = readFileSync(path, "latin1");
  const quoted = to.endsWith('"') ? text.replaceAll(/"end":(\d+)/g, '"end":"$1"') : text.replaceAll(from, to);
  expect(quoted).not.toBe(text);
  writeFileSync(path, quoted, "latin1");
  expect(LedgerFile.use(path, (file) => file.head())).toBe(null);
});
