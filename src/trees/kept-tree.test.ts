import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { KeptBlobs, NO_OID, OID_BYTES, oidOf } from "./blobs.js";
import { type KeptTree, keepListing, settled } from "./kept-tree.js";
import { isStill, latin1Of, linesOf, linesWhere, listTree, relisted } from "./listing.js";

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

it("forgets that alone, and knows the others by their own bytes", () => {
  const listing = Buffer.from(["1.0", "9.0", "2.0"].map((time, i) => `f 644 1 ${i} ${time} ${i}\0\0`).join(""));
  const oids = Buffer.from(["a", "b", "c"].map((letter) => letter.repeat(OID_BYTES)).join(""));
  const kept = settled({ listing, oids }, 5_000);
  expect([...linesOf(kept.listing).keys()]).toEqual(["0", "2"]);
  expect(kept.oids.toString()).toBe("a".repeat(OID_BYTES) + "c".repeat(OID_BYTES));
});

/** What is kept of every file, by its path. */
const keptOf = ({ listing, oids }: KeptTree) =>
  Object.fromEntries(
    [...linesOf(listing)].flatMap(([path, line], i) =>
      line.startsWith("f ") ? [[path, oids.subarray(i * OID_BYTES, (i + 1) * OID_BYTES).toString("hex")]] : [],
    ),
  );

it("reads again what changed, came or could not be read before, and nothing else", () => {
  const tree = join(root, "tree");
  const path = (i: number) => `d${i % 7}/f${i}`;
  for (let i = 0; i < 7; i += 1) mkdirSync(join(tree, `d${i}`), { recursive: true });
  for (let i = 0; i < 500; i += 1) writeFileSync(join(tree, path(i)), `${i}`);
  const blobs = new KeptBlobs(join(root, "base"));
  const first = keepListing(tree, listTree(tree, []), null, blobs).kept;
  const gap = [...linesOf(first.listing).keys()].indexOf(path(300));
  NO_OID.copy(first.oids, gap * OID_BYTES);
  for (const i of [3, 200, 499]) appendFileSync(join(tree, path(i)), "more");
  for (const i of [4, 201]) rmSync(join(tree, path(i)));
  writeFileSync(join(tree, "d3/new"), "new");
  const { kept, read } = keepListing(tree, listTree(tree, []), first, blobs);
  expect(read.map((line) => line.path).sort()).toEqual([path(200), path(3), path(300), path(499), "d3/new"].sort());
  const known = keptOf(kept);
  expect(Object.keys(known)).toHaveLength(499);
  for (const [name, oid] of Object.entries(known))
    expect(oid, name).toBe(oidOf(readFileSync(join(tree, name))).toString("hex"));
});

it("is brought up to date at some paths, as if all of it were listed again", () => {
  const put = (path: string, text: string) => writeFileSync(join(root, path), text);
  for (const folder of ["a/b/c", "a/é", "other"]) mkdirSync(join(root, folder), { recursive: true });
  for (const path of ["a/b/c/1", "a/b/c/2", "a/é/x y", "other/1", "top"]) put(path, path);
  const listing = listTree(root, []);
  put("a/b/c/1", "changed");
  rmSync(join(root, "a/b/c/2"));
  mkdirSync(join(root, "a/b/new"));
  put("a/b/new/file", "new");
  put("a/é/x y", "changed");
  const now = relisted(root, listing, ["a/b/c/1", "a/b/c/2", "a/b/new", "a/b/new/file", "a/é/x y"].map(latin1Of));
  expect(new Map([...linesOf(now)].sort())).toEqual(new Map([...linesOf(listTree(root, []))].sort()));
});

it("sees of a single file whether it is still as it was listed", () => {
  writeFileSync(join(root, "a.txt"), "one");
  const [line] = linesWhere(listTree(root, []), ({ type }) => type === "file");
  expect(isStill(root, line!)).toBe(true);
  writeFileSync(join(root, "a.txt"), "other");
  expect(isStill(root, line!)).toBe(false);
  rmSync(join(root, "a.txt"));
  expect(isStill(root, line!)).toBe(false);
});
