import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import type { Manifest } from "../../schema/manifest.js";
import { type DigestEntry, digestOf } from "./content-digest.js";

const manifest: Manifest = { nutshell_version: "0.2.0", bundle_type: "request", id: "nut-1", task: { title: "t" } };
const file = (path: string, more: Partial<DigestEntry> = {}): DigestEntry => ({
  path,
  kind: "file",
  executable: false,
  hash: `sha256:${"a".repeat(64)}`,
  ...more,
});
const folder = (path: string): DigestEntry => ({ path, kind: "folder", executable: false });
const base = [file("a"), file("d/b")];
const digest = digestOf(manifest, base);

it("is a hash over the author's manifest and a row for each entry", () => {
  const rows = `nutshell content 1\n${JSON.stringify(manifest)}\nf ${base[0]!.hash} a\nf ${base[1]!.hash} d/b\n`;
  expect(digest).toBe(`sha256:${createHash("sha256").update(rows).digest("hex")}`);
});

it.each<[string, readonly DigestEntry[]]>([
  ["order", [...base].reverse()],
  ["folders that are not empty", [folder("d"), ...base]],
  ["the manifest's own entry", [file("nutshell.json"), ...base]],
])("does not depend on %s", (_what, entries) => expect(digestOf(manifest, entries)).toBe(digest));

it("does not depend on what packing computes", () => {
  const packed: Manifest = {
    ...manifest,
    files: { total_count: 2, total_size_bytes: 2, tree: [{ path: "a", size: 1, hash: "x" }] },
    completeness: { status: "ready" },
    compression: { algorithm: "zstd" },
  };
  expect(digestOf(packed, base)).toBe(digest);
});

it.each<[string, readonly DigestEntry[]]>([
  ["content", [file("a", { hash: `sha256:${"b".repeat(64)}` }), base[1]!]],
  ["a run bit", [file("a", { executable: true }), base[1]!]],
  ["a name", [file("A"), base[1]!]],
  ["a missing file", [base[0]!]],
  ["an empty folder", [...base, folder("e")]],
])("changes with %s", (_what, entries) => expect(digestOf(manifest, entries)).not.toBe(digest));

it("changes with the manifest, and with what an author says of a file that is there", () => {
  expect(digestOf({ ...manifest, id: "nut-2" }, base)).not.toBe(digest);
  const noted = (path: string): Manifest => ({ ...manifest, files: { tree: [{ path, size: 1, role: "source" }] } });
  expect(digestOf(noted("a"), base)).not.toBe(digest);
  expect(digestOf(noted("gone"), base)).toBe(digest);
});
