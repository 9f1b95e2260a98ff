import { describe, expect, it } from "vitest";
import type { Manifest } from "../../schema/manifest.js";
import { judgeTree, treeHashes } from "./tree.js";

const [A, B] = [`sha256:${"a".repeat(64)}`, `sha256:${"b".repeat(64)}`];
const manifest = (tree: readonly object[], more: object = {}) => ({ files: { tree, ...more } }) as unknown as Manifest;
const file = (path: string, hash = A, size = 1) => ({ path, hash, size });
const codes = (...args: Parameters<typeof judgeTree>) => judgeTree(...args).findings.map(({ code }) => code);

describe("judgeTree", () => {
  it("has nothing to say when tree and files agree", () => {
    const rows = [file("a"), file("./b", B.toUpperCase().replace("SHA", "sha"))];
    const all = judgeTree(manifest(rows, { total_count: 2, total_size_bytes: 2 }), [file("a"), file("b", B)]);
    expect(all).toEqual({ findings: [], unverified: [] });
  });

  it.each([
    ["a file with another hash", [file("a")], [file("a", B)], ["TREE_HASH"]],
    ["a file with another size", [file("a")], [file("a", A, 2)], ["TREE_SIZE"]],
    ["a file that is not there", [file("a"), file("b")], [file("a")], ["TREE_MISSING"]],
    ["a row twice", [file("a"), file("a")], [file("a")], ["TREE_DUPLICATE"]],
    ["a hash of an unknown kind", [file("a", "md5:x")], [file("a")], ["TREE_HASH"]],
    ["a hash that is no text", [{ ...file("a"), hash: 1 }], [file("a")], ["TREE_HASH"]],
  ])("tells of %s", (_what, rows, files, expected) => {
    expect(codes(manifest(rows), files)).toEqual(expected);
  });

  it("holds a tree that claims to be complete to it", () => {
    const rows = [file("a")];
    expect(codes(manifest(rows, { total_count: 1 }), [file("a"), file("extra")])).toEqual(["TREE_UNLISTED"]);
    expect(codes(manifest(rows, { total_count: 1, total_size_bytes: 9 }), [file("a")])).toEqual(["TREE_TOTAL"]);
    expect(judgeTree(manifest(rows, { total_count: 7 }), [file("a"), file("extra")])).toEqual({
      findings: [],
      unverified: ["extra"],
    });
  });

  it("vouches for no file without a hash, and not for the manifest", () => {
    const { findings, unverified } = judgeTree(manifest([{ path: "a", size: 1 }, file("nutshell.json", B)]), [
      file("a"),
    ]);
    expect([findings, unverified]).toEqual([[], ["a"]]);
  });
});

it("gives the first hash of a path, whatever its spelling", () => {
  const rows = [file("./a", A.toUpperCase()), file("a", B), { path: "b", size: 1 }, { ...file("c"), hash: 1 }, "x"];
  expect([...treeHashes(manifest(rows as object[]))]).toEqual([
    ["a", A],
    ["c", "1"],
  ]);
});
