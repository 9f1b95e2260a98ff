import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { runNutshell } from "../cli/run-nutshell.js";
import { archive, entry, MANIFEST, manifest, nut } from "./forge.js";
import { temporaryFolder } from "./temp.js";

const root = temporaryFolder();
const HASH = expect.stringMatching(/^sha256:[0-9a-f]{64}$/);

/** A folder `task` that is ready to go, and where to stand beside it. */
function desk(files: Readonly<Record<string, string>> = {}): { cwd: string; task: string } {
  const cwd = mkdtempSync(join(root, "d-"));
  const task = join(cwd, "task");
  const all = { "nutshell.json": JSON.stringify(MANIFEST), "context/notes.md": "# Notes\n", ...files };
  for (const [path, content] of Object.entries(all)) {
    mkdirSync(dirname(join(task, path)), { recursive: true });
    writeFileSync(join(task, path), content);
  }
  return { cwd, task };
}

const json = (text: string) => JSON.parse(text);

describe("nutshell pack", () => {
  it("packs, and says the two digests", async () => {
    const { cwd } = desk();
    const { code, out, err } = await runNutshell(["pack", "--dir", "task", "-o", "x.nut"], { cwd });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/^Packed 2 files into .*x\.nut\n/);
    expect(out).toMatch(/\n {2}Hash: {5}sha256:[0-9a-f]{64}\n {2}Content: {2}sha256:[0-9a-f]{64}\n/);
    expect(readFileSync(join(cwd, "x.nut")).subarray(0, 4).toString("latin1")).toBe("NUT\x01");
  });

  it("takes folder and output as plain words, and names the file after the title", async () => {
    const { cwd } = desk();
    expect((await runNutshell(["pack", "task", "y.nut", "--json"], { cwd })).code).toBe(0);
    const { out } = await runNutshell(["pack", "task", "--json"], { cwd });
    expect(json(out)).toMatchObject({
      path: join(cwd, "a-task.nut"),
      packed: true,
      files: 2,
      hash: HASH,
      content_digest: HASH,
    });
    expect((await runNutshell(["pack", "task", "other"], { cwd })).code).toBe(2);
  });

  it("refuses an incomplete bundle with 1 and leaves nothing, and packs it with --force", async () => {
    const { cwd } = desk({
      "nutshell.json": JSON.stringify({ ...MANIFEST, context: { requirements: "context/none.md" } }),
    });
    const refused = await runNutshell(["pack", "--dir", "task", "-o", "x.nut", "--json"], { cwd });
    expect(refused).toMatchObject({ code: 1, out: "" });
    expect(json(refused.err).error).toMatchObject({
      code: "BUNDLE_INCOMPLETE",
      data: { missing: ["context.requirements"] },
    });
    expect(readdirSync(cwd)).toEqual(["task"]);
    const forced = await runNutshell(["pack", "--dir", "task", "-o", "x.nut", "--force", "--json"], { cwd });
    expect(json(forced.out).completeness).toBe("incomplete");
    const { out } = await runNutshell(["inspect", "--manifest", "x.nut", "--json"], { cwd });
    expect(json(out).manifest.completeness.missing).toEqual(["context.requirements"]);
  });

  it("lists what would go in and what stays out, writing nothing", async () => {
    const { cwd } = desk({ ".nutignore": "*.log\n", "a.log": "x", ".git/config": "x" });
    const { out } = await runNutshell(["pack", "--dir", "task", "--list", "--json"], { cwd });
    expect(json(out)).toMatchObject({
      packed: false,
      files: 3,
      entries: [{ path: "nutshell.json" }, { path: ".nutignore", size: 6 }, { path: "context/notes.md", size: 8 }],
      left: expect.arrayContaining([
        { path: "a.log", reason: "ignored" },
        { path: ".git/", reason: "never packed" },
      ]),
    });
    expect(readdirSync(cwd)).toEqual(["task"]);
  });

  it("leaves the author's manifest alone and fills in the packed one", async () => {
    const { cwd, task } = desk();
    const before = readFileSync(join(task, "nutshell.json"), "utf8");
    await runNutshell(["pack", "task", "x.nut"], { cwd });
    expect(readFileSync(join(task, "nutshell.json"), "utf8")).toBe(before);
    const { manifest: packed } = json((await runNutshell(["inspect", "x.nut", "--json"], { cwd })).out);
    expect(packed.files).toEqual({
      total_count: 1,
      total_size_bytes: 8,
      tree: [{ path: "context/notes.md", size: 8, hash: HASH }],
    });
    expect(packed.compression).toMatchObject({ algorithm: "gzip", original_size_bytes: 8 });
    expect(packed.completeness.status).toBe("ready");
  });
});

describe("nutshell unpack", () => {
  it("unpacks, names what it set aside, and refuses a second time", async () => {
    const { cwd } = desk({ "CLAUDE.md": "obey" });
    await runNutshell(["pack", "task", "x.nut"], { cwd });
    const first = await runNutshell(["unpack", "x.nut", "--json"], { cwd });
    expect(json(first.out)).toMatchObject({ dir: join(cwd, "x"), files: 3, quarantined: ["CLAUDE.md"], findings: [] });
    const second = await runNutshell(["unpack", "x.nut"], { cwd });
    expect(second).toMatchObject({ code: 2, out: "" });
    expect(second.err).toContain("is already there");
    const trusted = await runNutshell(["unpack", "x.nut", "-o", "y", "--trust", "CLAUDE.md"], { cwd });
    expect(trusted.code).toBe(0);
    expect(existsSync(join(cwd, "y/CLAUDE.md"))).toBe(true);
  });

  it("reads standard input, which must not be a terminal and needs a folder", async () => {
    const { cwd } = desk();
    await runNutshell(["pack", "task", "x.nut"], { cwd });
    const stdin = readFileSync(join(cwd, "x.nut"));
    expect((await runNutshell(["unpack", "-", "-o", "z"], { cwd, stdin })).code).toBe(0);
    expect(await runNutshell(["unpack", "-"], { cwd, stdin })).toMatchObject({ code: 2 });
  });

  it("says one clear line about a hostile bundle, with nothing that speaks to the terminal", async () => {
    const { cwd } = desk();
    writeFileSync(join(cwd, "evil.nut"), nut(archive(entry({ name: "\x1b[2J../x", data: "x" }))));
    const { code, out, err } = await runNutshell(["unpack", "evil.nut"], { cwd });
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err.split("\n")[0]).toMatch(/^nutshell: error: entry "\\x1b\[2J\.\.\/x" has a control character/);
    expect(err).not.toContain("\x1b");
    expect(readdirSync(cwd).sort()).toEqual(["evil.nut", "task"]);
  });

  it("holds to the limits given as flags", async () => {
    const { cwd } = desk();
    await runNutshell(["pack", "task", "x.nut"], { cwd });
    for (const flags of [
      ["--max-entries", "1"],
      ["--max-size", "3"],
    ]) {
      expect((await runNutshell(["unpack", "x.nut", ...flags], { cwd })).err).toContain("--max-");
    }
    expect((await runNutshell(["unpack", "x.nut", "--max-size", "many"], { cwd })).code).toBe(2);
  });
});

describe("what cannot be packed", () => {
  it("is left out by the line that is printed, from wherever it was typed", async () => {
    const { cwd, task } = desk();
    symlinkSync("/etc/hostname", join(task, "it's a link"));
    const { err } = await runNutshell(["pack", "task", "x.nut"], { cwd });
    const [, line] = /hint: leave it out: (.*)\n/.exec(err)!;
    expect(spawnSync("sh", ["-c", line!], { cwd: root }).status).toBe(0);
    expect(await runNutshell(["pack", "task", "x.nut"], { cwd })).toMatchObject({ code: 0 });
    writeFileSync(join(task, "a\nb"), "");
    const named = await runNutshell(["pack", "task", "x.nut"], { cwd });
    expect(named.err).toContain(`hint: rename it: ls -b ${task}\n`);
  });
});

describe("nutshell inspect", () => {
  it("shows a stranger's text on a page: one line each, cut where it is long, and counted where there is much", async () => {
    const many = (word: string) =>
      Array.from({ length: 3000 }, (_, n) => `${word} ${n}\nmore\u202e ${"x".repeat(900)}`);
    const criteria = many("AC").map((id) => ({ id, description: "d", type: "shell", command: "true" }));
    const { cwd } = desk({
      "nutshell.json": JSON.stringify({
        ...MANIFEST,
        task: { title: `T\n\x1b[2J${"t".repeat(9000)}`, summary: "word ".repeat(9000) },
        publisher: { name: "p".repeat(9000) },
        harness: { constraints: many("rule") },
        acceptance: { checklist: many("item") },
      }),
      "tests/criteria.json": JSON.stringify({ criteria }),
    });
    await runNutshell(["pack", "task", "x.nut"], { cwd });
    const { out } = await runNutshell(["inspect", "x.nut"], { cwd });
    const lines = out.split("\n");
    expect(lines.length).toBeLessThan(120);
    expect(out.length).toBeLessThan(80_000);
    expect(lines[0]).toMatch(/^T \\x1b\[2Jt+… \(9,006 characters\)/);
    expect(out).not.toMatch(/[\x1b\u202e]|\\x0a/);
    expect(out.match(/… and 2,960 more: --json shows all/g)).toHaveLength(3);
    expect(json((await runNutshell(["inspect", "x.nut", "--json"], { cwd })).out).criteria).toHaveLength(3000);
  });

  it("tells a stranger who asks, under which rules, what decides and what it wants to open", async () => {
    const manifest = {
      ...MANIFEST,
      publisher: { name: "Ada", contact: "ada@example.org" },
      harness: { constraints: ["leave lib alone", "be kind"] },
      acceptance: { checklist: ["it works"], criteria_file: "tests/criteria.json" },
      credentials: { vault: "v", encryption: "age", scopes: [{ name: "db", type: "password", access_level: "read" }] },
    };
    const criteria = { criteria: [{ id: "AC-1", type: "shell", description: "d", command: "true" }] };
    const { cwd } = desk({
      "nutshell.json": JSON.stringify(manifest),
      "tests/criteria.json": JSON.stringify(criteria),
      v: "age-encryption.org/v1\n",
    });
    expect(await runNutshell(["pack", "task", "x.nut", "--force"], { cwd })).toMatchObject({ code: 0 });
    const { out } = await runNutshell(["inspect", "x.nut"], { cwd });
    for (const line of ["From: +Ada, ada@example.org", "Rules: +leave lib alone\\n +be kind", "Done when: +it works"])
      expect(out).toMatch(new RegExp(line));
    expect(out).toMatch(/Criteria: +AC-1 \(shell\)/);
    expect(out).toMatch(/Credentials: +db \(read\)/);
    expect(json((await runNutshell(["inspect", "x.nut", "--json"], { cwd })).out).criteria).toEqual([
      { id: "AC-1", type: "shell" },
    ]);
  });

  it("shows the manifest and every entry", async () => {
    const { cwd } = desk({ "files/run.sh": "#!/bin/sh\n" });
    await runNutshell(["pack", "task", "x.nut"], { cwd });
    const shown = json((await runNutshell(["inspect", "x.nut", "--json"], { cwd })).out);
    expect(shown.manifest.task.title).toBe("a task");
    expect(shown.complete).toBe(true);
    expect(shown.entries).toEqual(["nutshell.json", "context/notes.md", "files/run.sh"]);
    expect(shown.details[1]).toMatchObject({ size: 8, hash: HASH, tokens: expect.any(Number) });
    const { out } = await runNutshell(["inspect", "x.nut"], { cwd });
    expect(out).toContain("  context/\n    notes.md ");
    const stdin = readFileSync(join(cwd, "x.nut"));
    expect(json((await runNutshell(["inspect", "--json", "-"], { cwd, stdin })).out).manifest.id).toBe(MANIFEST.id);
  });

  it("reads a newer minor version and keeps what it does not know", async () => {
    const { cwd } = desk({
      "nutshell.json": JSON.stringify({ ...MANIFEST, nutshell_version: "0.9.0", task: { title: "A task", mood: 1 } }),
    });
    const { code } = await runNutshell(["pack", "--dir", "task", "-o", "minor.nut", "--force"], { cwd });
    expect(code).toBe(0);
    expect((await runNutshell(["unpack", "minor.nut", "-o", "minor"], { cwd })).code).toBe(0);
    expect(json(readFileSync(join(cwd, "minor/nutshell.json"), "utf8"))).toMatchObject({
      nutshell_version: "0.9.0",
      task: { mood: 1 },
    });
    expect((await runNutshell(["validate", "minor.nut"], { cwd })).code).toBe(0);
  });

  it("looks at a newer major version, which nothing else accepts", async () => {
    const { cwd } = desk();
    writeFileSync(
      join(cwd, "new.nut"),
      nut(Buffer.concat([manifest({ nutshell_version: "2.0.0", brand: "new" }), Buffer.alloc(1024)])),
    );
    const { code, out } = await runNutshell(["inspect", "new.nut", "--json"], { cwd });
    expect(code).toBe(0);
    expect(json(out)).toMatchObject({ manifest: { brand: "new" }, findings: [{ code: "MANIFEST_NEWER" }] });
    expect((await runNutshell(["unpack", "new.nut"], { cwd })).err).toContain("newer than this tool");
    expect((await runNutshell(["validate", "new.nut"], { cwd })).code).toBe(1);
  });

  it("reads 0.1.0 as 0.2.0, its ClawNet fields moved", async () => {
    const { cwd } = desk();
    const old = {
      nutshell_version: "0.1.0",
      publisher: { name: "A", peer_id: "12D3", reputation: 8.5 },
      task: { title: "t", reward: { amount: 5 } },
    };
    writeFileSync(join(cwd, "old.nut"), nut(Buffer.concat([manifest(old), Buffer.alloc(1024)])));
    const shown = json((await runNutshell(["inspect", "old.nut", "--json"], { cwd })).out).manifest;
    expect(shown).toMatchObject({
      nutshell_version: "0.2.0",
      publisher: { name: "A" },
      task: { title: "t" },
      extensions: { clawnet: { peer_id: "12D3", reputation: 8.5, reward: { amount: 5 } } },
    });
    expect(shown.publisher.peer_id).toBeUndefined();
  });
});

describe("nutshell validate", () => {
  it("judges a bundle, a folder, a manifest and standard input", async () => {
    const { cwd, task } = desk();
    await runNutshell(["pack", "task", "x.nut"], { cwd });
    for (const target of ["x.nut", "task", "task/nutshell.json"]) {
      const { code, out } = await runNutshell(["validate", target, "--json"], { cwd });
      expect({ target, code, ...json(out) }).toEqual({
        target,
        code: 0,
        valid: true,
        errors: [],
        warnings: [],
        findings: [],
      });
    }
    for (const file of [join(cwd, "x.nut"), join(task, "nutshell.json")]) {
      const { out } = await runNutshell(["validate", "-", "--json"], { cwd, stdin: readFileSync(file) });
      expect(json(out).valid).toBe(true);
    }
  });

  it.each([
    ["a wrong enum", { task: { title: "t", priority: "urgent" } }, "task.priority"],
    ["no title", { task: { summary: "s" } }, "task.title"],
    ["a wrong id", { id: "42" }, "id"],
    ["a date that does not parse", { expires_at: "tomorrow" }, "expires_at"],
    ["a reference that leaves the bundle", { context: { requirements: "../secret.md" } }, "context.requirements"],
    ["an unknown bundle type", { bundle_type: "parcel" }, "bundle_type"],
    ["a field of the wrong type", { tags: "all" }, "tags"],
  ])("answers no to %s", async (_name, extra, path) => {
    const { cwd } = desk({ "nutshell.json": JSON.stringify({ ...MANIFEST, ...extra }) });
    for (const target of ["task", "task/nutshell.json"]) {
      const { code, out } = await runNutshell(["validate", target, "--json"], { cwd });
      expect(code).toBe(1);
      expect(json(out).findings.map((finding: { path: string }) => finding.path)).toContain(path);
      expect(json(out).errors.length).toBeGreaterThan(0);
    }
  });

  it("reads the documents that have a schema, and reports an extension that tries to override", async () => {
    const { cwd } = desk({
      "nutshell.json": JSON.stringify({ ...MANIFEST, extensions: { evil: { task: { title: "other" } } } }),
      "tests/criteria.json": '{"criteria": "none"}',
      "apis/endpoints.json": "{",
    });
    const { findings, valid } = json((await runNutshell(["validate", "task", "--json"], { cwd })).out);
    expect(valid).toBe(false);
    expect(findings.map(({ path }: { path: string }) => path).sort()).toEqual(
      ["apis/endpoints.json", "extensions.evil.task", "tests/criteria.json"].sort(),
    );
  });

  it("warns about a stale tree in a folder, since pack rebuilds it", async () => {
    const { cwd, task } = desk();
    await runNutshell(["pack", "task", "x.nut"], { cwd });
    await runNutshell(["unpack", "x.nut", "-o", "out"], { cwd });
    writeFileSync(join(cwd, "out/context/notes.md"), "changed");
    const { valid, warnings } = json((await runNutshell(["validate", "out", "--json"], { cwd })).out);
    expect({ valid, some: warnings.length > 0 }).toEqual({ valid: true, some: true });
    expect(existsSync(task)).toBe(true);
  });

  it("answers no to a damaged bundle and cannot answer for what is not there or sealed", async () => {
    const { cwd } = desk();
    await runNutshell(["pack", "task", "x.nut"], { cwd });
    const bytes = readFileSync(join(cwd, "x.nut"));
    writeFileSync(join(cwd, "cut.nut"), bytes.subarray(0, -20));
    writeFileSync(join(cwd, "sealed.nut"), Buffer.concat([Buffer.from("NUT\x02", "latin1"), bytes]));
    writeFileSync(join(cwd, "noise.nut"), "noise");
    for (const name of ["cut.nut", "noise.nut"]) {
      const { code, out } = await runNutshell(["validate", name, "--json"], { cwd });
      expect({ code, valid: json(out).valid, errors: json(out).errors.length }).toEqual({
        code: 1,
        valid: false,
        errors: 1,
      });
    }
    expect((await runNutshell(["validate", "gone.nut"], { cwd })).code).toBe(2);
    expect((await runNutshell(["validate", "sealed.nut"], { cwd })).code).toBe(2);
  });
});

describe("nutshell compress", () => {
  it("packs at a level and says where the bytes are", async () => {
    const { cwd } = desk({ "files/a.ts": "const a = 1;\n".repeat(5000), "files/b.json": "[]" });
    const sizes: number[] = [];
    for (const level of ["none", "fast", "best"]) {
      const { out } = await runNutshell(
        ["compress", "--dir", "task", "-o", `${level}.nut`, "--level", level, "--json"],
        { cwd },
      );
      const result = json(out);
      expect(result.kinds[0]).toEqual({ kind: "code", files: 1, bytes: 65_000 });
      sizes.push(result.bytes);
    }
    expect(sizes[0]).toBeGreaterThan(65_000);
    expect(sizes[0]! > sizes[1]! && sizes[1]! >= sizes[2]!).toBe(true);
  });
});

describe("the real program", () => {
  it("leaves nothing behind when it is interrupted", async () => {
    const { cwd, task } = desk();
    for (let index = 0; index < 40; index += 1) {
      writeFileSync(join(task, `big-${index}.txt`), `${index} some text that repeats `.repeat(40_000));
    }
    const bin = fileURLToPath(new URL("../../bin/nutshell.js", import.meta.url));
    const child = spawn(process.execPath, [bin, "pack", "--dir", "task", "-o", "x.nut"], { cwd, stdio: "ignore" });
    const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
    // The spool is nameless, so the first sign of work is time; early or late, the outcome must be all or nothing.
    await new Promise((resolve) => setTimeout(resolve, 400));
    child.kill("SIGINT");
    const code = await ended;
    expect([0, 130, null]).toContain(code);
    expect(readdirSync(cwd).sort()).toEqual(code === 0 ? ["task", "x.nut"] : ["task"]);
  });
});
