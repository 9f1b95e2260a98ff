import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { NO_OID } from "./blobs.js";
import { settled } from "./kept-tree.js";
import { linesOf, listTree } from "./listing.js";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "nut-kept-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

it("forgets what was changed so shortly before the look that a second change could bear the same time", () => {
  writeFileSync(join(root, "a.txt"), "one");
  const listing = listTree(root, []);
  const oids = Buffer.concat([...linesOf(listing)].map(() => NO_OID));
  const changed = statSync(join(root, "a.txt")).ctimeMs;
  expect(settled({ listing, oids }, changed + 1).listing.length).toBe(0);
  expect(settled({ listing, oids }, changed + 10_000)).toEqual({ listing, oids });
});
