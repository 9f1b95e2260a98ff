// Long because: a table: one hostile bundle per row.
// The corpus: what a hostile or careless sender can put into a bundle, and what must come of it.
import { gzipSync } from "node:zlib";
import type { ErrorCode } from "../../src/errors.js";
import { archive, END, entry, header, longName, MAGIC, MANIFEST, manifest, nut, pax } from "./forge.js";

export interface Case {
  readonly name: string;
  readonly bytes: () => Buffer;
  /** A code: refused with it, nothing written. A list: accepted, and these are the files. */
  readonly expect: ErrorCode | readonly string[];
}

const file = (name: string | Buffer, data = "x") => entry({ name, data });
const refuse = (expect: ErrorCode) => (name: string, bytes: () => Buffer) => ({ name, bytes, expect });
const unsafePath = refuse("BUNDLE_UNSAFE_PATH");
const unsafeEntry = refuse("BUNDLE_UNSAFE_ENTRY");
const corrupt = refuse("BUNDLE_CORRUPT");
const limit = refuse("BUNDLE_LIMIT");
const badManifest = refuse("MANIFEST_INVALID");
const mismatch = refuse("BUNDLE_MISMATCH");
const accept = (name: string, bytes: () => Buffer, ...expect: string[]): Case => ({ name, bytes, expect });
const named = (name: string | Buffer) => () => nut(archive(file(name)));
const long = (name: string) => () => nut(archive(longName(name), file("short")));
const viaPax = (name: string | Buffer) => () => nut(archive(pax([["path", name]]), file("short")));
const typed =
  (type: string, linkname = "") =>
  () =>
    nut(archive(entry({ name: "thing", type, linkname, size: 0 })));

const PATHS: readonly Case[] = [
  ...["../x", "a/../../x", "..", "a/b/../c", "a/.."].map((path) => unsafePath(`path ${path}`, named(path))),
  ...["/abs", "//abs", "/", "///etc/passwd"]
    .map((path) => unsafePath(`path ${path}`, named(path)))
    .filter(({ name }) => name !== "path /"),
  ...["..\\x", "C:\\x", "C:..\\x", "\\\\srv\\share", "a\\..\\b"].map((path) => unsafePath(`path ${path}`, named(path))),
  ...["C:x", "c:", "Z:/x"].map((path) => unsafePath(`drive ${path}`, named(path))),
  unsafePath("backslash in a name", named("a\\b")),
  unsafePath("drive letter in a name", named("D:/a")),
  unsafePath("empty name", named("")),
  unsafePath("newline in a name", named("a\nb")),
  unsafePath("terminal escape in a name", named("\x1b[2Jx")),
  unsafePath("C1 control in a name", named("a\u009bb")),
  unsafePath("bytes hidden behind a NUL", named("good\0evil")),
  unsafeEntry("NUL in a PAX path", viaPax("good\0evil")),
  unsafePath("ustar prefix that climbs", () => nut(archive(entry({ name: "x", prefix: "../..", data: "x" })))),
  unsafePath("ustar prefix that is absolute", () => nut(archive(entry({ name: "x", prefix: "/etc", data: "x" })))),
  unsafePath("empty name without content", () => nut(archive(entry({ name: "" })))),
  unsafePath("folder without a name", () => nut(archive(entry({ name: "/", type: "5" })))),
  unsafePath("folder that climbs", () => nut(archive(entry({ name: "../", type: "5" })))),
  unsafeEntry("file named ../", named("../")),
  unsafeEntry("file named d/", named("d/")),
  unsafePath("a//b", named("a//b")),
  unsafePath("a/./b", named("a/./b")),
  unsafePath("././a", named("././a")),
  limit("65 levels", long(`${"d/".repeat(64)}x`)),
  limit("2,000 levels", viaPax(`${"d/".repeat(2000)}x`)),
  limit("300-byte component", long("n".repeat(300))),
  limit("256-byte component of two-byte letters", viaPax("é".repeat(128))),
  limit("5,000-byte path", long(`${"abcdefghi/".repeat(50)}`.repeat(10).slice(0, 5000))),
  limit("1,100-byte path by PAX", viaPax("abcdefghijklmnopqrstuvwxyz/".repeat(41).slice(0, 1100))),
  unsafeEntry("exact duplicate", () => nut(archive(file("a"), file("a")))),
  unsafeEntry("second nutshell.json", () => nut(archive(manifest({ id: "nut-evil" })))),
  unsafeEntry("./nutshell.json duplicate", () => nut(archive(file("./nutshell.json", "{}")))),
  unsafeEntry("./ duplicate", () => nut(archive(file("a"), file("./a")))),
  unsafeEntry("file, then file/child", () => nut(archive(file("a"), file("a/b")))),
  unsafeEntry("child, then its folder as a file", () => nut(archive(file("a/b"), file("a")))),
  unsafeEntry("folder, then a file of that name", () => nut(archive(entry({ name: "a/", type: "5" }), file("a")))),
  unsafeEntry("file deep under a file", () => nut(archive(file("a"), file("a/b/c/d")))),
  unsafeEntry("nutshell.json/child", () => nut(archive(file("nutshell.json/x")))),
  ...[
    ".git/config",
    ".git/hooks/post-checkout",
    "sub/.git/config",
    ".GIT/config",
    ".Git/x",
    ".git",
    ".git./config",
    ".git /config",
    ".g\u200dit/config",
    ".hg/hgrc",
    ".svn/x",
    "git~1/config",
    ".ｇit/config",
  ].map((path) => unsafePath(`repository ${JSON.stringify(path)}`, viaPax(path))),
  ...[".nexus/state/plan.json", ".NEXUS/State/x", "sub/.nexus/state/x"].map((path) =>
    unsafePath(`state ${path}`, named(path)),
  ),
  ...["a..b.txt", "...", "..hidden", "a/...", "x..", "..."]
    .slice(0, 5)
    .map((path) => accept(`legal ${path}`, named(path), path)),
  accept("./ prefix", named("./a/b"), "a/b"),
  accept("root folder entry", () => nut(archive(entry({ name: "./", type: "5" }), file("./a"))), "a"),
  accept(
    "folder entries",
    () => nut(archive(entry({ name: "d/", type: "5" }), entry({ name: "d/", type: "5" }), file("d/x"))),
    "d/x",
  ),
  accept("100-byte name", named("n".repeat(100)), "n".repeat(100)),
  accept("255-byte name by GNU L", long("n".repeat(255)), "n".repeat(255)),
  accept("long name by PAX", viaPax("é".repeat(100)), "é".repeat(100)),
  accept("name split by ustar prefix", () => nut(archive(entry({ name: "x", prefix: "p/q", data: "x" }))), "p/q/x"),
  accept(
    "GNU magic leaves the prefix alone",
    () => nut(archive(entry({ name: "x", prefix: "zz", magic: "ustar  \0", data: "x" }))),
    "x",
  ),
  accept(
    ".gitignore and .github are not .git",
    () => nut(archive(file(".gitignore"), file(".github/x"))),
    ".gitignore",
    ".github/x",
  ),
];

const LINKS: readonly Case[] = [
  ...["/etc/passwd", "../../x", "self", "thing", ""].map((target) =>
    unsafeEntry(`symbolic link to ${JSON.stringify(target)}`, typed("2", target)),
  ),
  ...["/etc/passwd", "../x", "nutshell.json"].map((target) =>
    unsafeEntry(`hard link to ${target}`, typed("1", target)),
  ),
  unsafeEntry("link as the manifest", () =>
    nut(Buffer.concat([entry({ name: "nutshell.json", type: "2", linkname: "/etc/passwd" }), END])),
  ),
  unsafeEntry("link that replaces a folder", () =>
    nut(archive(file("d/x"), entry({ name: "d", type: "2", linkname: "/tmp" }), file("d/y"))),
  ),
  unsafeEntry("link chain", () =>
    nut(archive(entry({ name: "a", type: "2", linkname: "b" }), entry({ name: "b", type: "2", linkname: ".." }))),
  ),
  unsafeEntry("long link name by GNU K", () => nut(archive(longName("../x", "K"), entry({ name: "l", type: "2" })))),
  unsafeEntry("PAX linkpath", () => nut(archive(pax([["linkpath", "/etc/passwd"]]), entry({ name: "l", type: "2" })))),
  unsafeEntry("PAX linkpath on a file", () => nut(archive(pax([["linkpath", "/etc/passwd"]]), file("l")))),
  unsafeEntry("link with content", () => nut(archive(entry({ name: "l", type: "2", linkname: "x", data: "payload" })))),
  ...(
    [
      ["3", "character device"],
      ["4", "block device"],
      ["6", "named pipe"],
      ["7", "contiguous file"],
      ["S", "GNU sparse"],
      ["M", "multivolume"],
      ["V", "volume label"],
      ["D", "dump folder"],
      ["N", "old long name"],
      ["X", "Solaris header"],
      ["A", "unknown type A"],
      ["Z", "unknown type Z"],
      ["\x7f", "unknown type 0x7f"],
    ] as const
  ).map(([type, name]) => unsafeEntry(name, typed(type))),
  unsafeEntry("folder with a size", () => nut(archive(entry({ name: "d/", type: "5", data: "x".repeat(512) })))),
  accept(
    "setuid, setgid and sticky are dropped",
    () => nut(archive(entry({ name: "s", mode: "0007755\0", data: "x" }))),
    "s",
  ),
  accept("mode 0", () => nut(archive(entry({ name: "m", mode: "0000000\0", data: "x" }))), "m"),
  accept("foreign owner", () => nut(archive(entry({ name: "u", uid: "0001750\0", data: "x" }))), "u"),
  accept("old NUL type", () => nut(archive(entry({ name: "o", type: "\0", data: "x" }))), "o"),
];

const sizePax = (size: string) => () => nut(archive(pax([["size", size]]), file("f")));

const HEADERS: readonly Case[] = [
  unsafePath("PAX path that climbs", viaPax("../../x")),
  unsafePath("PAX path that is absolute", viaPax("/etc/x")),
  unsafeEntry("PAX path not UTF-8", viaPax(Buffer.from([0x66, 0xff, 0xfe]))),
  unsafePath("header name not UTF-8", named(Buffer.from([0x66, 0xff, 0xfe]))),
  ...["-1", "1e3", "0x10", "99999999999999999999", "", " 1", "1.5", "NaN"].map((size) =>
    unsafeEntry(`PAX size ${JSON.stringify(size)}`, sizePax(size)),
  ),
  limit("PAX size huge", sizePax("9000000000000000")),
  corrupt("PAX size past the end", sizePax("4096")),
  unsafeEntry("PAX path given twice", () =>
    nut(
      archive(
        pax([
          ["path", "a"],
          ["path", "b"],
        ]),
        file("f"),
      ),
    ),
  ),
  unsafeEntry("PAX size given twice", () =>
    nut(
      archive(
        pax([
          ["size", "1"],
          ["size", "2"],
        ]),
        file("f"),
      ),
    ),
  ),
  corrupt("two extended headers", () => nut(archive(pax([["path", "a"]]), pax([["path", "b"]]), file("f")))),
  corrupt("GNU and PAX name together", () => nut(archive(longName("a"), pax([["path", "b"]]), file("f")))),
  unsafeEntry("global path", () => nut(archive(pax([["path", "../x"]], "g"), file("f")))),
  unsafeEntry("global size", () => nut(archive(pax([["size", "0"]], "g"), file("f")))),
  unsafeEntry("global linkpath", () => nut(archive(pax([["linkpath", "x"]], "g"), file("f")))),
  ...[
    "5 path=x\n",
    "999 path=x\n",
    "0 path=x\n",
    "-9 path=x\n",
    "path=x\n",
    "10 path=x",
    "10 pathx\n\n\n",
    " 9 path=x\n",
    "9  ath=x\n\0",
  ].map((body) =>
    unsafeEntry(`malformed PAX record ${JSON.stringify(body)}`, () =>
      nut(archive(entry({ name: "p", type: "x", data: body }), file("f"))),
    ),
  ),
  unsafeEntry("PAX record without a key", () =>
    nut(archive(entry({ name: "p", type: "x", data: "5 =x\n" }), file("f"))),
  ),
  limit("2 MB PAX record", () => nut(archive(pax([["comment", "x".repeat(2_000_000)]]), file("f")))),
  limit("2 MB GNU name", () => nut(archive(longName("x".repeat(2_000_000)), file("f")))),
  corrupt("empty extended header", () => nut(archive(entry({ name: "p", type: "x" }), file("f")))),
  corrupt("extended header at the end", () => nut(archive(pax([["path", "a"]])))),
  unsafeEntry("binary character set", () => nut(archive(pax([["hdrcharset", "BINARY"]]), file("f")))),
  unsafeEntry("GNU sparse by PAX", () =>
    nut(
      archive(
        pax([
          ["GNU.sparse.major", "1"],
          ["GNU.sparse.realsize", "8589934592"],
        ]),
        file("f"),
      ),
    ),
  ),
  accept("__proto__ as a PAX key", () => nut(archive(pax([["__proto__", "x"]]), file("f"))), "f"),
  accept(
    "extended attributes",
    () =>
      nut(
        archive(
          pax([
            ["SCHILY.xattr.security.capability", "x"],
            ["LIBARCHIVE.xattr.user.a", "eA"],
          ]),
          file("f"),
        ),
      ),
    "f",
  ),
  accept(
    "global comment, as git archive writes",
    () => nut(archive(pax([["comment", "0123abcd"]], "g"), file("f"))),
    "f",
  ),
  accept(
    "PAX times",
    () =>
      nut(
        archive(
          pax([
            ["mtime", "1700000000.123"],
            ["atime", "-5"],
            ["ctime", "not a number"],
          ]),
          file("f"),
        ),
      ),
    "f",
  ),
  accept("huge time", () => nut(archive(entry({ name: "f", mtime: "77777777777\0", data: "x" }))), "f"),
  accept("time that is no number", () => nut(archive(entry({ name: "f", mtime: "zzzzzzzzzzz\0", data: "x" }))), "f"),
  accept(
    "base-256 size",
    () => nut(archive(entry({ name: "f", data: "x", size: Buffer.from([0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]) }))),
    "f",
  ),
  corrupt("negative base-256 size", () => nut(archive(entry({ name: "f", size: Buffer.alloc(12, 0xff) })))),
  corrupt("base-256 size too large", () =>
    nut(
      archive(
        entry({
          name: "f",
          size: Buffer.from([0x80, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
        }),
      ),
    ),
  ),
  corrupt("size that is no number", () => nut(archive(entry({ name: "f", size: "12x45678901\0" })))),
  corrupt("size with a digit 9", () => nut(archive(entry({ name: "f", size: "00000000009\0" })))),
  corrupt("mode that is no number", () => nut(archive(entry({ name: "f", mode: "rwxr-xr\0", data: "x" })))),
  corrupt("wrong checksum", () => nut(archive(entry({ name: "f", checksum: 1234, data: "x" })))),
  corrupt("padding that is not empty", () => {
    const tar = archive(file("f"));
    tar[tar.length - END.length - 1] = 1;
    return nut(tar);
  }),
];

const zeros = (size: number) => gzipSync(Buffer.alloc(size));

const SIZES: readonly Case[] = [
  limit("a file that claims 8 GB", () => nut(archive(header({ name: "f", size: 8_000_000_000 })))),
  limit("10 GiB in one header", () =>
    nut(archive(pax([["size", String(10 * 1024 ** 3)]]), header({ name: "f", size: 0 }))),
  ),
  limit("manifest that claims 1 GB", () =>
    nut(Buffer.concat([header({ name: "nutshell.json", size: 1_000_000_000 }), Buffer.alloc(1 << 20)])),
  ),
  limit("two files over the total", () =>
    nut(archive(header({ name: "a", size: 0 }), header({ name: "b", size: 2_147_483_649 }))),
  ),
  corrupt("size past the end", () =>
    nut(Buffer.concat([manifest(), header({ name: "f", size: 100_000 }), Buffer.alloc(512)])),
  ),
  corrupt("half a header", () => nut(Buffer.concat([manifest(), header({ name: "f", size: 0 }).subarray(0, 300)]))),
  corrupt("data after the end", () => nut(Buffer.concat([archive(), file("f")]))),
  corrupt("data after one zero block", () => nut(Buffer.concat([manifest(), Buffer.alloc(512), file("f")]))),
  corrupt("text after the end", () => nut(Buffer.concat([archive(), Buffer.from("hello")]))),
  corrupt("endless zeros after the end", () => nut(Buffer.concat([archive(), Buffer.alloc(3 << 20)]))),
  corrupt("endless zeros in another member", () => Buffer.concat([nut(archive()), zeros(3 << 20)])),
  limit("expands more than 250 times", () => {
    // Together just more than the 64 MB below which nobody asks; packed once, since compressing so much takes long.
    const size = 17 << 20;
    const big = zeros(size);
    const files = ["a", "b", "c", "d"].flatMap((name) => [gzipSync(header({ name, size })), big]);
    return Buffer.concat([MAGIC, gzipSync(manifest()), ...files, gzipSync(END)]);
  }),
  limit("50,001 empty files", () =>
    nut(archive(...Array.from({ length: 50_001 }, (_, index) => header({ name: `f${index}`, size: 0 })))),
  ),
  limit("50,001 global headers", () => nut(archive(...Array<Buffer>(50_001).fill(pax([["comment", "x"]], "g"))))),
  accept("no end blocks", () => nut(Buffer.concat([manifest(), file("f")])), "f"),
  accept("one end block", () => nut(Buffer.concat([manifest(), file("f"), Buffer.alloc(512)])), "f"),
  accept("padded to 10 KiB", () => nut(Buffer.concat([archive(file("f")), Buffer.alloc(10_240)])), "f"),
  accept(
    "a bundle in a bundle stays a file",
    () => nut(archive(entry({ name: "inner.nut", data: nut(archive(file("../x"))) }))),
    "inner.nut",
  ),
  { name: "no manifest", bytes: () => nut(Buffer.concat([file("f"), END])), expect: "MANIFEST_MISSING" },
  { name: "only end blocks", bytes: () => nut(END), expect: "MANIFEST_MISSING" },
  {
    name: "manifest is a folder",
    bytes: () => nut(Buffer.concat([entry({ name: "nutshell.json/", type: "5" }), END])),
    expect: "MANIFEST_MISSING",
  },
  corrupt("nothing at all inside", () => nut(Buffer.alloc(0))),
  accept("manifest last", () => nut(Buffer.concat([file("f"), manifest(), END])), "f"),
];

const plain = () => archive(file("f"));
const gz = () => gzipSync(plain());
const flipped = (bytes: Buffer, at: number) => {
  const copy = Buffer.from(bytes);
  copy[at < 0 ? copy.length + at : at]! ^= 1;
  return copy;
};
const magic = (text: string) => Buffer.from(text, "latin1");
const badMagic = refuse("BUNDLE_BAD_MAGIC");
const gzipWith = (flags: number, extra: Buffer) => {
  const bytes = gz();
  const head = Buffer.from(bytes.subarray(0, 10));
  head[3] = flags;
  return Buffer.concat([MAGIC, head, extra, bytes.subarray(10)]);
};

const COMPRESSION: readonly Case[] = [
  ...[0, 1, 2, 3].map((length) => badMagic(`${length} bytes`, () => MAGIC.subarray(0, length))),
  corrupt("only the magic", () => MAGIC),
  ...["NUT\x00", "NUT\x03", "nut\x01", "NUTS", "\x00\x00\x00\x00"].map((text) =>
    badMagic(`magic ${JSON.stringify(text)}`, () => Buffer.concat([magic(text), gz()])),
  ),
  { name: "sealed", bytes: () => Buffer.concat([magic("NUT\x02"), Buffer.alloc(200)]), expect: "BUNDLE_SEALED" },
  badMagic("plain tar.gz", gz),
  badMagic("zip", () => Buffer.concat([magic("PK\x03\x04"), Buffer.alloc(100)])),
  badMagic("plain tar", plain),
  corrupt("flipped CRC", () => Buffer.concat([MAGIC, flipped(gz(), -8)])),
  corrupt("flipped length", () => Buffer.concat([MAGIC, flipped(gz(), -1)])),
  corrupt("no trailer", () => Buffer.concat([MAGIC, gz().subarray(0, -8)])),
  corrupt("half a trailer", () => Buffer.concat([MAGIC, gz().subarray(0, -3)])),
  corrupt("half the data", () => Buffer.concat([MAGIC, gz().subarray(0, 60)])),
  corrupt("trailing zeros", () => Buffer.concat([MAGIC, gz(), Buffer.alloc(512)])),
  corrupt("trailing garbage", () => Buffer.concat([MAGIC, gz(), Buffer.from("garbage and more")])),
  corrupt("one trailing byte", () => Buffer.concat([MAGIC, gz(), Buffer.from([0x1f])])),
  corrupt("second member damaged", () =>
    Buffer.concat([MAGIC, gzipSync(manifest()), flipped(gzipSync(Buffer.concat([file("f"), END])), 15)]),
  ),
  corrupt("second member cut", () =>
    Buffer.concat([MAGIC, gzipSync(manifest()), gzipSync(Buffer.concat([file("f"), END])).subarray(0, 30)]),
  ),
  corrupt("reserved gzip flags", () => gzipWith(0x80, Buffer.alloc(0))),
  corrupt("unknown gzip method", () => Buffer.concat([MAGIC, flipped(gz(), 2)])),
  corrupt("gzip name without end", () => gzipWith(0x08, Buffer.alloc(0)).subarray(0, 16)),
  corrupt("zstd magic and nothing else", () => Buffer.concat([MAGIC, Buffer.from([0x28, 0xb5, 0x2f, 0xfd])])),
  corrupt("zstd magic and garbage", () =>
    Buffer.concat([MAGIC, Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), Buffer.alloc(64, 0x55)]),
  ),
  corrupt("deflate garbage", () =>
    Buffer.concat([MAGIC, Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]), Buffer.alloc(64, 0xee)]),
  ),
  mismatch("algorithm contradicts the bytes", () =>
    nut(Buffer.concat([manifest({ compression: { algorithm: "zstd" } }), END])),
  ),
  accept(
    "two members",
    () => Buffer.concat([MAGIC, gzipSync(manifest()), gzipSync(Buffer.concat([file("f"), END]))]),
    "f",
  ),
  accept(
    "a member per block",
    () => {
      const tar = plain();
      const parts = Array.from({ length: Math.ceil(tar.length / 512) }, (_, index) =>
        gzipSync(tar.subarray(index * 512, index * 512 + 512)),
      );
      return Buffer.concat([MAGIC, ...parts]);
    },
    "f",
  ),
  accept(
    "an empty member between",
    () =>
      Buffer.concat([
        MAGIC,
        gzipSync(manifest()),
        gzipSync(Buffer.alloc(0)),
        gzipSync(Buffer.concat([file("f"), END])),
      ]),
    "f",
  ),
  accept("gzip name and comment", () => gzipWith(0x18, Buffer.from("name\0comment\0")), "f"),
  accept("gzip extra field", () => gzipWith(0x04, Buffer.from([4, 0, 1, 2, 3, 4])), "f"),
  accept("no compression", () => Buffer.concat([MAGIC, plain()]), "f"),
];

const withManifest = (text: string | Buffer) => () =>
  nut(Buffer.concat([entry({ name: "nutshell.json", data: text }), END]));
const fields = JSON.stringify(MANIFEST).slice(1, -1);
const sha = (hex: string) => `sha256:${hex.repeat(64).slice(0, 64)}`;
const X_HASH = "sha256:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
const tree =
  (rows: object[], more: object = {}) =>
  () =>
    nut(Buffer.concat([manifest({ files: { tree: rows, ...more } }), file("f"), END]));

const MANIFESTS: readonly Case[] = [
  badManifest("duplicate keys", withManifest(`{${fields},"id":"nut-other"}`)),
  badManifest("duplicate keys, one escaped", withManifest(`{${fields},"\\u0069d":"nut-other"}`)),
  badManifest("duplicate keys deep inside", withManifest(`{${fields},"extensions":{"a":{"b":1,"b":2}}}`)),
  badManifest("__proto__", withManifest(`{${fields},"__proto__":{"polluted":true}}`)),
  badManifest("65 levels", withManifest(`{${fields},"x":${"[".repeat(65)}${"]".repeat(65)}}`)),
  badManifest("10,000 levels", withManifest(`{${fields},"x":${"[".repeat(10_000)}${"]".repeat(10_000)}}`)),
  badManifest("1e999", withManifest(`{${fields},"x":1e999}`)),
  badManifest("byte-order mark", withManifest(`\ufeff{${fields}}`)),
  badManifest("UTF-16", withManifest(Buffer.from(`\ufeff{${fields}}`, "utf16le"))),
  badManifest("UTF-16 without a mark", withManifest(Buffer.from(`{${fields}}`, "utf16le"))),
  badManifest(
    "invalid UTF-8",
    withManifest(Buffer.concat([Buffer.from(`{${fields},"x":"`), Buffer.from([0xc3, 0x28]), Buffer.from('"}')])),
  ),
  badManifest(
    "overlong UTF-8",
    withManifest(Buffer.concat([Buffer.from(`{${fields},"x":"`), Buffer.from([0xc0, 0xaf]), Buffer.from('"}')])),
  ),
  badManifest("lone surrogate", withManifest(`{${fields},"x":"\\ud800"}`)),
  badManifest("surrogates the wrong way round", withManifest(`{${fields},"x":"\\udc00\\ud800"}`)),
  badManifest("comments", withManifest(`{${fields}} // hello`)),
  badManifest("trailing comma", withManifest(`{${fields},}`)),
  badManifest("single quotes", withManifest(`{'a':1}`)),
  badManifest("top-level array", withManifest("[]")),
  badManifest("top-level text", withManifest('"nutshell"')),
  badManifest("null", withManifest("null")),
  badManifest("empty", withManifest("")),
  badManifest("two documents", withManifest("{}{}")),
  badManifest("cut short", withManifest(`{${fields}`)),
  badManifest("raw newline in a text", withManifest(`{${fields},"x":"a\nb"}`)),
  badManifest("hexadecimal", withManifest(`{${fields},"x":0x10}`)),
  badManifest("leading zero", withManifest(`{${fields},"x":01}`)),
  badManifest("NaN", withManifest(`{${fields},"x":NaN}`)),
  limit("17 MB of text", withManifest(`{${fields},"x":"${"x".repeat(17 << 20)}"}`)),
  {
    name: "newer major version",
    bytes: withManifest(JSON.stringify({ ...MANIFEST, nutshell_version: "1.0.0" })),
    expect: "MANIFEST_NEWER",
  },
  mismatch("wrong hash", tree([{ path: "f", size: 1, hash: sha("0") }])),
  mismatch("hash of an unknown kind", tree([{ path: "f", size: 1, hash: "md5:abc" }])),
  mismatch("wrong size", tree([{ path: "f", size: 2 }])),
  mismatch("file that is not there", tree([{ path: "gone", size: 1 }])),
  mismatch(
    "file listed twice",
    tree([
      { path: "f", size: 1 },
      { path: "f", size: 1 },
    ]),
  ),
  mismatch(
    "complete tree that leaves a file out",
    tree([{ path: "nutshell.json", size: 1, hash: sha("1") }], { total_count: 1 }),
  ),
  mismatch("totals that lie", tree([{ path: "f", size: 1, hash: X_HASH }], { total_count: 1, total_size_bytes: 999 })),
  accept("right hash", tree([{ path: "f", size: 1, hash: X_HASH }], { total_count: 1, total_size_bytes: 1 }), "f"),
  accept("hash in capitals", tree([{ path: "f", size: 1, hash: `sha256:${X_HASH.slice(7).toUpperCase()}` }]), "f"),
  accept("partial tree", tree([], { total_count: 12 }), "f"),
  accept(
    "a row for the manifest that cannot match",
    tree(
      [
        { path: "f", size: 1, hash: X_HASH },
        { path: "nutshell.json", size: 5, hash: sha("2") },
      ],
      { total_count: 2 },
    ),
    "f",
  ),
  accept("newer minor version", withManifest(JSON.stringify({ ...MANIFEST, nutshell_version: "0.9.0", extra: 1 }))),
  accept("big integers", withManifest(`{${fields},"x":123456789012345678901234567890}`)),
  accept("a date that does not parse", withManifest(JSON.stringify({ ...MANIFEST, created_at: "yesterday" }))),
  accept(
    "a title that looks like a path",
    withManifest(JSON.stringify({ ...MANIFEST, task: { title: "../../etc/passwd" } })),
  ),
  accept("a tree of the wrong type", withManifest(JSON.stringify({ ...MANIFEST, files: { tree: "all" } }))),
];

const NAMES: readonly Case[] = [
  ...[
    "CON",
    "aux.txt",
    "nul",
    "a/COM1",
    "trailing.",
    "trailing ",
    "file.txt:stream",
    "PROGRA~1",
    "\u202egnp.exe",
    "zero\u200bwidth",
  ].map((path) => accept(`unusual name ${JSON.stringify(path)}`, viaPax(path), path)),
  accept("case collision", () => nut(archive(file("README"), file("readme"))), "README", "readme"),
  accept("folder case collision", () => nut(archive(file("Dir/a"), file("dir/b"))), "Dir/a", "dir/b"),
  accept(
    "NFC and NFD",
    () => nut(archive(pax([["path", "é"]]), file("1"), pax([["path", "e\u0301"]]), file("2"))),
    "é",
    "e\u0301",
  ),
  accept("ligature", () => nut(archive(pax([["path", "ﬁle"]]), file("1"), file("file"))), "ﬁle", "file"),
];

export const CASES: Readonly<Record<string, readonly Case[]>> = {
  "archive paths": PATHS,
  "links and special files": LINKS,
  headers: HEADERS,
  sizes: SIZES,
  "compression and magic": COMPRESSION,
  manifest: MANIFESTS,
  names: NAMES,
};
