import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { TreeEntry } from "../trees/tree.js";
import { withEvidence } from "./evidence.js";

const FILES: Readonly<Record<string, string>> = {
  "files/hello.txt": 'good day,\n  please  come in\nsay "hi"\n',
  "files/src/index.ts": "export const a = 1;\n",
  Makefile: "all:\n",
};

const hash = (text: string) => createHash("sha256").update(text).digest("hex");
const entry = (text: string): TreeEntry => ({ type: "file", executable: false, size: text.length, hash: hash(text) });
const folder: TreeEntry = { type: "folder", executable: false, size: 0, hash: "" };
const entries = new Map<string, TreeEntry>([
  ["files", folder],
  ...Object.entries(FILES).map(([path, text]) => [path, entry(text)] as const),
]);
const before = new Map([["files/old.txt", entry("old")]]);
const tree = { entries, before, read: (path: string) => Buffer.from(FILES[path]!) };

const judged = (note: string, status: "passed" | "failed" = "passed") =>
  withEvidence([{ item: "it greets", status, note }], tree)[0]!;

describe("evidence that holds", () => {
  it.each([
    'files/hello.txt:2 "please come in"',
    'files/hello.txt:2 holds "please come in"',
    "`files/hello.txt:2` says “come in”",
    'hello.txt:1: "good day, please come in"',
    "/home/user/project/files/hello.txt:2",
    './files/hello.txt:3 "say \\"hi\\""',
    'files/hello.txt:1-2 "good day … come in"',
    "Makefile:1 and src/index.ts:1 agree",
    "files/hello.txt greets, as asked",
    "files/old.txt is gone",
    "looked at it and tried it on 127.0.0.1:8080 at 12:30, 3/4 of https://example.org/a/b.html:80",
    "and/or n/a",
    "dist/cli.js prints 3",
  ])("is kept: %s", (note) => expect(judged(note)).toEqual({ item: "it greets", status: "passed", note }));
});

describe("evidence that does not", () => {
  it.each([
    ['files/manners.txt:3 holds "please"', "files/manners.txt is not in the tree under review"],
    ["files/manners.txt:3", "files/manners.txt is not in the tree under review"],
    ["files/manners.txt greets politely", "files/manners.txt is not in the tree under review"],
    ["manners.txt:3", "manners.txt is not in the tree under review"],
    ['docs/manners.md "please"', "docs/manners.md is not in the tree under review"],
    ['files/hello.txt:2 "you fool"', "files/hello.txt does not hold the words quoted from it"],
    ['files/hello.txt says "you fool"', "files/hello.txt does not hold the words quoted from it"],
    ['files/hello.txt:1 "come in … good day"', "files/hello.txt does not hold the words quoted from it"],
    ["files/hello.txt:40", "files/hello.txt has no line 40"],
    ['files/hello.txt:1 "good day" and files/src/index.ts:9', "files/src/index.ts has no line 9"],
  ])("makes the item unknown: %s", (note, why) => {
    expect(judged(note)).toEqual({ item: "it greets", status: "unknown", note: `${why}: ${note}` });
  });

  it("changes nothing about a no", () => expect(judged("files/manners.txt:3", "failed").status).toBe("failed"));

  it("is looked up by digest: other bytes than the reviewer was given are no evidence", () => {
    const moved = { ...tree, read: () => Buffer.from("please come in") };
    const note = 'files/hello.txt:1 "please come in"';
    expect(withEvidence([{ item: "it greets", status: "passed", note }], moved)[0]?.status).toBe("unknown");
  });
});
