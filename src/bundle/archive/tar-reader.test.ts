import { describe, expect, it } from "vitest";
import { END, entry, type Forged, header, longName, pax } from "../../../tests/bundle/forge.js";
import { DEFAULT_LIMITS, type Limits } from "../format/limits.js";
import { type ArchiveEntry, TarReader } from "./tar-reader.js";

interface ReadFile extends Omit<ArchiveEntry, "offset"> {
  readonly text: string;
}

/** Everything the reader passes on, pushed in pieces of any size. */
function read(archive: Buffer, limits: Partial<Limits> = {}, piece = archive.length): ReadFile[] {
  const files: ReadFile[] = [];
  const reader = new TarReader(
    ({ offset: _, ...item }) => {
      let text = "";
      if (item.kind === "folder") files.push({ ...item, text });
      return {
        chunk: (bytes) => {
          text += bytes.toString("latin1");
        },
        end: () => files.push({ ...item, text }),
      };
    },
    { ...DEFAULT_LIMITS, ...limits },
  );
  for (let at = 0; at < archive.length; at += piece) reader.push(archive.subarray(at, at + piece));
  reader.finish();
  return files;
}

const archive = (...parts: Buffer[]) => Buffer.concat([...parts, END]);
const file = (name: string, data = "x") => entry({ name, data });
const refusal = (code: string, message: RegExp) =>
  expect.objectContaining({ code, message: expect.stringMatching(message) });

describe("TarReader", () => {
  it("passes on names, kinds, sizes, run bits and bytes, however the stream is cut", () => {
    const tar = archive(
      entry({ name: "run.sh", data: "#!/bin/sh\n", mode: "0000755\0" }),
      entry({ name: "d/", type: "5" }),
      file("d/a.txt", "a".repeat(1_500)),
      file("empty", ""),
      longName("l".repeat(150)),
      file("short", "long"),
      pax([["path", "é"]]),
      file("stand-in", "pax"),
    );
    const expected = [
      { path: "run.sh", kind: "file", size: 10, executable: true, text: "#!/bin/sh\n" },
      { path: "d", kind: "folder", size: 0, executable: false, text: "" },
      { path: "d/a.txt", kind: "file", size: 1_500, executable: false, text: "a".repeat(1_500) },
      { path: "empty", kind: "file", size: 0, executable: false, text: "" },
      { path: "l".repeat(150), kind: "file", size: 4, executable: false, text: "long" },
      { path: "é", kind: "file", size: 3, executable: false, text: "pax" },
    ];
    for (const piece of [tar.length, 1, 511, 512, 513]) expect(read(tar, {}, piece)).toEqual(expected);
  });

  it.each([1, 255, 256, 70_000])("reads a size of %i in base 256", (size) => {
    const field = Buffer.alloc(12);
    field.writeUIntBE(size, 6, 6);
    field[0] = 0x80;
    const data = "b".repeat(size);
    const [first, second] = read(archive(entry({ name: "f", data, size: field }), file("after")));
    expect(first).toMatchObject({ path: "f", size, text: data });
    expect(second).toMatchObject({ path: "after", text: "x" });
  });

  it.each<[string, Buffer, string, RegExp]>([
    ["a negative size", entry({ name: "f", size: Buffer.alloc(12, 0xff) }), "BUNDLE_CORRUPT", /negative or too large/],
    [
      "a size no number can hold",
      entry({ name: "f", size: Buffer.concat([Buffer.of(0x80), Buffer.alloc(11, 0xff)]) }),
      "BUNDLE_CORRUPT",
      /too large/,
    ],
    ["a wrong checksum", entry({ name: "f", checksum: 1_234 }), "BUNDLE_CORRUPT", /checksum/],
    ["bytes hidden behind a name's NUL", file("a\0b"), "BUNDLE_UNSAFE_PATH", /hidden behind a NUL/],
    ["a name that is not UTF-8", entry({ name: Buffer.of(0xff, 0xfe) }), "BUNDLE_UNSAFE_PATH", /UTF-8/],
    ["a file that is named like a folder", entry({ name: "a/", data: "x" }), "BUNDLE_UNSAFE_ENTRY", /name of a folder/],
    ["a folder with content", entry({ name: "a/", type: "5", data: "x" }), "BUNDLE_UNSAFE_ENTRY", /with content/],
    ["a symbolic link", entry({ name: "l", type: "2", linkname: "/etc" }), "BUNDLE_UNSAFE_ENTRY", /symbolic link/],
    ["a hard link", entry({ name: "l", type: "1", linkname: "x" }), "BUNDLE_UNSAFE_ENTRY", /hard link/],
    ["an unknown type", entry({ name: "u", type: "Q" }), "BUNDLE_UNSAFE_ENTRY", /unknown type/],
    ["a name twice", Buffer.concat([file("f"), file("f")]), "BUNDLE_UNSAFE_ENTRY", /there twice/],
    ["a name twice, once with ./", Buffer.concat([file("f"), file("./f")]), "BUNDLE_UNSAFE_ENTRY", /there twice/],
    ["a file in a file", Buffer.concat([file("f"), file("f/x")]), "BUNDLE_UNSAFE_ENTRY", /both a file and a folder/],
    ["a file where a folder is", Buffer.concat([file("f/x"), file("f")]), "BUNDLE_UNSAFE_ENTRY", /both a file/],
    ["a path that climbs", file("../x"), "BUNDLE_UNSAFE_PATH", /climbs out/],
    [
      "two extended headers",
      Buffer.concat([longName("a"), longName("b"), file("f")]),
      "BUNDLE_CORRUPT",
      /two extended/,
    ],
    ["an empty extended header", entry({ name: "p", type: "x" }), "BUNDLE_CORRUPT", /header is empty/],
    ["a huge extended header", header({ name: "p", type: "x", size: 65_537 }), "BUNDLE_LIMIT", /65537 bytes/],
    ["an extended header for nothing", pax([["path", "a"]]), "BUNDLE_CORRUPT", /ends after an extended header/],
  ])("refuses %s", (_what, bytes, code, message) => {
    expect(() => read(archive(bytes))).toThrow(refusal(code, message));
  });

  it("refuses padding that is not empty, data after the end, and endless zeros", () => {
    const dirty = file("f");
    dirty[512 + 100] = 1;
    expect(() => read(archive(dirty))).toThrow(refusal("BUNDLE_CORRUPT", /padding/));
    expect(() => read(Buffer.concat([file("f"), END, file("g")]))).toThrow(refusal("BUNDLE_CORRUPT", /after the end/));
    expect(() => read(Buffer.concat([file("f"), Buffer.alloc(512), file("g")]))).toThrow(
      refusal("BUNDLE_CORRUPT", /after the end/),
    );
    const zeros = Buffer.concat([file("f"), END, Buffer.alloc(1024 ** 2 + 1)]);
    expect(() => read(zeros)).toThrow(refusal("BUNDLE_CORRUPT", /endless zeros/));
  });

  it("refuses an archive that is cut or empty", () => {
    const half: Forged = { name: "f", size: 1_000 };
    expect(() => read(Buffer.concat([header(half), Buffer.alloc(512)]))).toThrow(refusal("BUNDLE_CORRUPT", /middle/));
    expect(() => read(header(half).subarray(0, 300))).toThrow(refusal("BUNDLE_CORRUPT", /middle/));
    expect(() => read(Buffer.alloc(0))).toThrow(refusal("BUNDLE_CORRUPT", /empty/));
  });

  it("counts entries and bytes, global headers among the entries", () => {
    const two = archive(file("a", "x".repeat(600)), file("b", "x".repeat(600)));
    expect(read(two, { maxEntries: 2, maxTotalBytes: 1_200 })).toHaveLength(2);
    expect(() => read(two, { maxEntries: 1 })).toThrow(refusal("BUNDLE_LIMIT", /more than 1 entries/));
    expect(() => read(two, { maxTotalBytes: 1_199 })).toThrow(refusal("BUNDLE_LIMIT", /more than 1199 bytes/));
    const globals = archive(pax([["comment", "x"]], "g"), pax([["comment", "y"]], "g"), file("a"));
    expect(() => read(globals, { maxEntries: 2 })).toThrow(refusal("BUNDLE_LIMIT", /more than 2 entries/));
  });
});

describe("extended headers", () => {
  it.each<[string, Buffer, RegExp]>([
    ["a link", pax([["linkpath", "/etc"]]), /makes a link/],
    ["a sparse file", pax([["GNU.sparse.major", "1"]]), /sparse/],
    ["another character set", pax([["hdrcharset", "BINARY"]]), /UTF-8/],
    [
      "a key twice",
      pax([
        ["path", "a"],
        ["path", "b"],
      ]),
      /twice/,
    ],
    ["a path for every entry", pax([["path", "a"]], "g"), /for every entry/],
    ["a NUL in a path", pax([["path", "a\0b"]]), /NUL/],
    ["a path that is not UTF-8", pax([["path", Buffer.of(0xff)]]), /UTF-8/],
    ["a size that is no number", pax([["size", "1e3"]]), /not a number/],
    ["a record that is too long", entry({ name: "p", type: "x", data: "99 path=a\n" }), /malformed/],
    ["a record without a length", entry({ name: "p", type: "x", data: "path=a\n" }), /malformed/],
  ])("refuse %s", (_what, bytes, message) => {
    expect(() => read(archive(bytes, file("f")))).toThrow(refusal("BUNDLE_UNSAFE_ENTRY", message));
  });

  it("give a size beyond what a header can say", () => {
    const sized = archive(pax([["size", "600"]]), header({ name: "f", size: 0 }), Buffer.alloc(1_024));
    expect(read(sized)).toMatchObject([{ path: "f", size: 600 }]);
  });
});
