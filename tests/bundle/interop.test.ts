// Bundles travel both ways between this tool and the other one. The bundles are ours, in the other tool's bytes; the ones
// it really wrote are tried too where they are at hand.
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { afterAll, describe, expect, it } from "vitest";
import { contentDigest } from "../../src/bundle/index.js";
import { runNutshell } from "../cli/run-nutshell.js";
import { type Files, goBundle, peerOf } from "./go-tool.js";

const place = mkdtempSync(join(tmpdir(), "nut-interop-"));
afterAll(() => rmSync(place, { recursive: true, force: true }));
let made = 0;
const fresh = () => {
  made += 1;
  mkdirSync(join(place, String(made)));
  return join(place, String(made));
};
const nutshell = (argv: readonly string[], cwd: string) => runNutshell(argv, { cwd, env: { HOME: place } });

const ID = "nut-5a5a5a5a-0000-4000-8000-0000000000aa";
const REQUEST = {
  nutshell_version: "0.2.0",
  bundle_type: "request",
  id: ID,
  created_at: "2026-02-03T04:05:06Z",
  task: { title: "Sort the <harbour> & its boats", summary: "Boats come in any order.", priority: "low" },
  tags: { skills_required: ["rust"], custom: { berth: 7 } },
  publisher: { name: "Ines", tool: "go" },
  context: { requirements: "context/requirements.md" },
  acceptance: { checklist: ["Every boat has a berth"] },
  harness: { agent_type_hint: "execution", context_budget_hint: 0.4, constraints: ["Leave docs/ alone"] },
  extensions: { harbour: { tide: "high" } },
};
const FILES = {
  "context/requirements.md": "# Berths\n\nOne boat, one berth.\n",
  "files/src/berth.rs": "pub fn berth() {}\n",
  "files/empty": "",
  "files/src/names.txt": "grüße, 名\n",
};
const RESULT = {
  request_id: ID,
  completed_at: "2026-02-04T00:00:00Z",
  status: "completed",
  completion_percentage: 100,
  summary: "Every boat has a berth.",
  artifacts: { files_created: [{ path: "delivery/artifacts/berth.rs", lines: 1 }] },
  acceptance_results: {
    tests_passed: 1,
    tests_failed: 0,
    checklist: [{ item: "Every boat has a berth", status: "passed" }],
  },
  execution_log: { full_log: "delivery/logs/execution.log" },
};
const DELIVERY_FILES = {
  ...FILES,
  "delivery/result.json": `${JSON.stringify(RESULT)}\n`,
  "delivery/artifacts/berth.rs": "pub fn berth() -> u8 { 7 }\n",
  "delivery/logs/execution.log": "done\n",
};
const DELIVERY = { ...REQUEST, bundle_type: "delivery", request_id: ID, task: { title: "Sort the harbour, done" } };

const BUNDLES: readonly (readonly [string, Readonly<Record<string, unknown>>, Files])[] = [
  [
    "a manifest and nothing else",
    { nutshell_version: "0.2.0", bundle_type: "request", id: ID, task: { title: "Bare" } },
    {},
  ],
  ["a request", REQUEST, FILES],
  ["a delivery", DELIVERY, DELIVERY_FILES],
  ["a delivery packed by force, without a title", { ...DELIVERY, task: { title: "" } }, {}],
];

const filesIn = (folder: string): Files =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => statSync(join(folder, name)).isFile() && name !== "nutshell.json")
      .map((name) => [name, readFileSync(join(folder, name), "utf8")]),
  );

describe.each(BUNDLES)("%s of the other tool [P1]", (_, manifest, files) => {
  const box = fresh();
  writeFileSync(join(box, "theirs.nut"), goBundle(manifest, files));

  it("is valid, is looked at and compared", async () => {
    // It writes an empty time where nobody gave one, which is the one thing to say about any of these.
    const odd = "created_at" in manifest ? [] : ["created_at: is empty"];
    const { valid, errors, warnings } = JSON.parse((await nutshell(["validate", "theirs.nut", "--json"], box)).out);
    expect({ valid, errors, warnings }).toMatchObject({
      valid: true,
      errors: [],
      warnings: expect.arrayContaining(odd),
    });
    const { manifest: read, entries } = JSON.parse((await nutshell(["inspect", "theirs.nut", "--json"], box)).out);
    expect(read.id).toBe(ID);
    expect(entries).toEqual(["nutshell.json", ...Object.keys(files).sort()]);
    const checked = await nutshell(["check", "theirs.nut", "--json"], box);
    expect(checked.code).toBeLessThan(2);
    expect(JSON.parse(checked.out)).toMatchObject({ missing: expect.any(Array), warnings: expect.any(Array) });
    expect(await nutshell(["diff", "theirs.nut", "theirs.nut"], box)).toMatchObject({
      code: 0,
      out: "no differences\n",
    });
  });

  it("opens byte for byte, and goes back packed by us with nothing lost", async () => {
    expect(await nutshell(["unpack", "theirs.nut", "-o", "opened"], box)).toMatchObject({ code: 0 });
    expect(filesIn(join(box, "opened"))).toEqual(files);
    const before = JSON.parse(readFileSync(join(box, "opened/nutshell.json"), "utf8"));
    expect(before).toMatchObject(JSON.parse(JSON.stringify(manifest)));
    expect((await nutshell(["pack", "--dir", "opened", "-o", "ours.nut", "--force"], box)).err).not.toContain("error:");
    expect(await nutshell(["unpack", "ours.nut", "-o", "again"], box)).toMatchObject({ code: 0 });
    expect(filesIn(join(box, "again"))).toEqual(files);
    const {
      files: tree,
      compression,
      completeness,
      ...kept
    } = JSON.parse(readFileSync(join(box, "again/nutshell.json"), "utf8"));
    expect(kept).toMatchObject(JSON.parse(JSON.stringify(manifest)));
    expect(contentDigest(join(box, "again"))).toBe(contentDigest(join(box, "opened")));
  });
});

describe("a bundle of the other tool", () => {
  const box = fresh();
  const whole = goBundle(REQUEST, FILES);

  it("is refused, and leaves nothing, when a byte of it was changed or the end is missing", async () => {
    const unlike = goBundle(REQUEST, { ...FILES, "files/src/berth.rs": "pub fn berth() { }\n" });
    const tar = gunzipSync(unlike.subarray(4));
    const lie = tar.indexOf("pub fn berth() { }");
    tar.write("pub fn berth() {;}", lie);
    const bad = {
      changed: Buffer.from(whole).fill(whole[whole.length - 6]! ^ 1, whole.length - 6, whole.length - 5),
      cut: whole.subarray(0, whole.length - 20),
      "not what its manifest says": Buffer.concat([Buffer.from("NUT\x01", "latin1"), tar]),
    };
    for (const [name, bytes] of Object.entries(bad)) {
      writeFileSync(join(box, "bad.nut"), bytes);
      expect((await nutshell(["unpack", "bad.nut", "-o", "bad"], box)).code, name).toBe(2);
      expect(existsSync(join(box, "bad")), name).toBe(false);
    }
  });

  it("is taken at its word only when it says it was completed [P7]", async () => {
    writeFileSync(join(box, "delivery.nut"), goBundle(DELIVERY, DELIVERY_FILES));
    const { code, out } = await nutshell(["verify", "delivery.nut", "--json"], box);
    expect({ code, backed: JSON.parse(out).backed }).toEqual({ code: 1, backed: false });
  });

  it("sealed for a peer opens with the peer's key in its three forms, and with no other", async () => {
    const peer = peerOf(createHash("sha256").update("a seed of ours").digest());
    writeFileSync(join(box, "sealed.nut"), peer.seal(whole));
    expect((await nutshell(["unpack", "sealed.nut", "-o", "closed"], box)).code).toBe(2);
    for (const [form, bytes] of Object.entries(peer.keyFiles)) {
      const key = join(box, `${form}.key`);
      writeFileSync(key, bytes, { mode: 0o600 });
      const opened = join(box, form);
      expect(await nutshell(["unpack", "sealed.nut", "--identity", key, "-o", opened], box)).toMatchObject({ code: 0 });
      expect(filesIn(opened)).toEqual(FILES);
    }
    const stranger = peerOf(Buffer.alloc(32, 3)).keyFiles.seed;
    writeFileSync(join(box, "stranger.key"), stranger, { mode: 0o600 });
    const { code } = await nutshell(["unpack", "sealed.nut", "--identity", "stranger.key", "-o", "closed"], box);
    expect([code, existsSync(join(box, "closed"))]).toEqual([2, false]);
  });

  it("is sealed for the same peer by us", async () => {
    const peer = peerOf(createHash("sha256").update("a seed of ours").digest());
    writeFileSync(join(box, "plain.nut"), whole);
    await nutshell(["unpack", "plain.nut", "-o", "plain"], box);
    expect(
      await nutshell(["pack", "--dir", "plain", "-o", "for-peer.nut", "--peer", peer.hex, "--force"], box),
    ).toMatchObject({ code: 0 });
    writeFileSync(join(box, "peer.key"), peer.keyFiles.libp2p, { mode: 0o600 });
    expect(await nutshell(["unpack", "for-peer.nut", "--identity", "peer.key", "-o", "from-peer"], box)).toMatchObject({
      code: 0,
    });
    expect(filesIn(join(box, "from-peer"))).toEqual(FILES);
  });
});

describe("a bundle of ours [P1]", () => {
  it("is what a strict reader of ustar and gzip expects, the manifest first, every row true", async () => {
    const box = fresh();
    const task = join(box, "task");
    for (const [name, text] of Object.entries({ ...FILES, "nutshell.json": JSON.stringify(REQUEST) })) {
      mkdirSync(dirname(join(task, name)), { recursive: true });
      writeFileSync(join(task, name), text);
    }
    expect(await nutshell(["pack", "--dir", "task", "-o", "ours.nut"], box)).toMatchObject({ code: 0 });
    const bytes = readFileSync(join(box, "ours.nut"));
    expect(bytes.subarray(0, 7).toString("hex")).toBe("4e5554011f8b08");
    const entries = strictUstar(gunzipSync(bytes.subarray(4)));
    expect(entries.map(([name]) => name)).toEqual(["nutshell.json", ...Object.keys(FILES).sort()]);
    const { files } = JSON.parse(entries[0]![1].toString("utf8"));
    const rows = entries.slice(1).map(([path, data]) => ({
      path,
      size: data.length,
      hash: `sha256:${createHash("sha256").update(data).digest("hex")}`,
    }));
    expect(files.tree).toEqual(rows);
    expect(files.total_count).toBe(rows.length);
  });
});

/** Plain files alone, sums right, numbers in octal, two empty blocks at the end: what every tar reader can do. */
function strictUstar(tar: Buffer): [string, Buffer][] {
  const entries: [string, Buffer][] = [];
  let at = 0;
  for (; tar[at] !== 0; ) {
    const header = Buffer.from(tar.subarray(at, at + 512));
    const field = (from: number, length: number) =>
      header
        .subarray(from, from + length)
        .toString("utf8")
        .replace(/\0.*$/s, "");
    const sum = Number.parseInt(field(148, 8), 8);
    header.fill(0x20, 148, 156);
    expect(header.reduce((total, byte) => total + byte, 0)).toBe(sum);
    expect([field(257, 6), field(156, 1)]).toEqual(["ustar", "0"]);
    expect(
      [field(100, 8), field(108, 8), field(116, 8), field(136, 12)].map((text) => Number.parseInt(text, 8)),
    ).toEqual([0o644, 0, 0, 0]);
    const size = Number.parseInt(field(124, 12), 8);
    const prefix = field(345, 155);
    entries.push([`${prefix === "" ? "" : `${prefix}/`}${field(0, 100)}`, tar.subarray(at + 512, at + 512 + size)]);
    at += 512 + Math.ceil(size / 512) * 512;
  }
  expect(tar.length - at).toBeGreaterThanOrEqual(1024);
  expect(tar.subarray(at).every((byte) => byte === 0)).toBe(true);
  return entries;
}

const samples = fileURLToPath(new URL("../../../shared/data/nutshell-samples/", import.meta.url));
const names = existsSync(samples) ? readdirSync(samples).filter((name) => name.endsWith(".nut")) : [];
for (const name of names.filter((one) => one !== "encrypted.nut")) {
  it(`${name}, written by the other tool itself, opens, is checked and compared`, async () => {
    const box = fresh();
    const file = join(samples, name);
    expect(await nutshell(["unpack", file, "-o", "opened"], box)).toMatchObject({ code: 0 });
    expect((await nutshell(["check", file, "--json"], box)).code).toBeLessThan(2);
    expect(await nutshell(["diff", file, file], box)).toMatchObject({ code: 0, out: "no differences\n" });
    if (name === "delivery.nut") expect((await nutshell(["verify", file], box)).code).toBe(1);
  });
}
if (names.length > 0) {
  it("encrypted.nut, written by the other tool itself, opens with its key in all three forms", async () => {
    const box = fresh();
    for (const form of ["full64.key", "seed32.key", "libp2p.key"]) {
      writeFileSync(join(box, form), readFileSync(join(samples, "keys", form)), { mode: 0o600 });
      const unpack = ["unpack", join(samples, "encrypted.nut"), "--identity", form, "-o", `opened-${form}`];
      expect(await nutshell(unpack, box)).toMatchObject({ code: 0 });
    }
  });
}
