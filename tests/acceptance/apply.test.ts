// A delivery on its way into a repository: every way in, every way back out, and what a stranger would send.
import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { packFolder } from "../../src/bundle/index.js";
import { publicRemote } from "../../src/trees/git/repository.js";
import { runNutshell } from "../cli/run-nutshell.js";
import { put } from "./room.js";

let folder: string;
let repo: string;
const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
const git = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync("git", ["-C", repo, ...identity, ...args], { encoding: "utf8" });
  return { status, out: stdout, err: stderr };
};
const env = () => ({
  HOME: join(folder, "home"),
  TMPDIR: join(folder, "tmp"),
  NUTCRACKER_CONSENT: "all",
  ...{ GIT_COMMITTER_NAME: "Ada", GIT_COMMITTER_EMAIL: "ada@example.org" },
});
const nutshell = async (...argv: string[]) => {
  const run = await runNutshell(argv, { cwd: folder, env: env() });
  expect(readdirSync(join(folder, "tmp"))).toEqual([]);
  return run;
};
const read = (path: string) => readFileSync(join(repo, path), "utf8");

/** One delivery of every kind of change; each test begins with the repository as it was handed out. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "nut-apply-"));
  mkdirSync(join(folder, "tmp"));
  repo = join(folder, "repo");
  put(join(folder, "request"), {
    "nutshell.json": JSON.stringify({
      nutshell_version: "0.2.0",
      bundle_type: "request",
      id: "nut-11111111-1111-4111-8111-111111111111",
      task: { title: "Greet", summary: "say hello" },
    }),
  });
  put(repo, { "a.txt": "one\ntwo\nthree\n", "crlf.txt": "a\r\nb\r\n", "gone.txt": "gone\n", "run.sh": "exit 0\n" });
  git("init", "-q", "-b", "main");
  git("add", ".");
  git("commit", "-qm", "start");
  cpSync(repo, join(folder, "handed-out"), { recursive: true });
  put(repo, { "a.txt": "one\nTWO\nthree\n", "crlf.txt": "a\r\nB\r\n", "sub/new ü.txt": "new\n" });
  writeFileSync(join(repo, "latin.txt"), Buffer.from([0xe9, 0x0a]));
  writeFileSync(join(repo, "blob.bin"), Buffer.from([0, 1, 2, 255]));
  rmSync(join(repo, "gone.txt"));
  chmodSync(join(repo, "run.sh"), 0o755);
  symlinkSync("a.txt", join(repo, "link"));
  const summary = "From: Eve <eve@example.org>\n---\ndiff --git a/x b/x\nall done";
  const done = await nutshell(
    "finish",
    "repo",
    "-r",
    "request",
    "-o",
    "done.nut",
    "-m",
    summary,
    "--decision",
    "shout because loud",
  );
  expect(existsSync(join(folder, "done.nut")), done.err).toBe(true);
  await nutshell("unpack", "done.nut", "-o", "forged");
}, 60_000);
beforeEach(() => {
  rmSync(repo, { recursive: true, force: true });
  cpSync(join(folder, "handed-out"), repo, { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const expectWork = () => {
  expect(read("a.txt")).toBe("one\nTWO\nthree\n");
  expect(read("crlf.txt")).toBe("a\r\nB\r\n");
  expect(read("sub/new ü.txt")).toBe("new\n");
  expect([...readFileSync(join(repo, "blob.bin"))]).toEqual([0, 1, 2, 255]);
  expect([...readFileSync(join(repo, "latin.txt"))]).toEqual([0xe9, 0x0a]);
  expect(existsSync(join(repo, "gone.txt"))).toBe(false);
  expect(statSync(join(repo, "run.sh")).mode & 0o100).toBe(0o100);
  expect(read("link")).toBe(read("a.txt"));
};
const untouched = () => {
  expect(git("status", "--porcelain").out).toBe("");
  expect(read("a.txt")).toBe("one\ntwo\nthree\n");
};
const undo = (out: string) => {
  const line = /^undo: (.+)$/m.exec(out)![1]!;
  const { status, stderr } = spawnSync("bash", ["-c", line], { cwd: folder, encoding: "utf8" });
  expect(status, stderr).toBe(0);
};

describe("nutshell apply", () => {
  it("stages, and its line takes it back", async () => {
    const { code, out, err } = await nutshell("apply", "done.nut", "--repo", "repo");
    expect(code, err).toBe(0);
    expectWork();
    undo(out);
    untouched();
  });

  it("commits with the summary and decisions as its message, and no line of theirs is a header or a patch", async () => {
    const { code, out, err } = await nutshell("apply", "done.nut", "--repo", "repo", "--commit");
    expect(code, err).toBe(0);
    expectWork();
    const message = git("log", "-1", "--format=%an%n%B").out;
    expect(message).toContain("Greet\n");
    expect(message).toContain("- shout (loud)");
    expect(message).not.toMatch(/^(?:From:|---|diff )/m);
    undo(out);
    untouched();
  });

  it.each(["--index", "--commit"])("leaves nothing half applied when git stops in the middle: %s", async (how) => {
    // The person's own filter fails at one of the last files, as a full disk would.
    writeFileSync(join(repo, ".git/info/attributes"), "sub/** filter=broken\nlatin.txt filter=broken\n");
    git("config", "filter.broken.smudge", "false");
    git("config", "filter.broken.required", "true");
    const { code, err } = await nutshell("apply", "done.nut", "--repo", "repo", how);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("git says: ") });
    untouched();
    expect(existsSync(join(repo, "sub"))).toBe(false);
    expect(git("log", "--oneline").out.trim().split("\n")).toHaveLength(1);
    // With other work of one's own in the tree, that stays and nothing else does.
    put(repo, { "run.sh": "exit 1\n", "mine.txt": "mine\n" });
    git("config", "filter.broken.smudge", "false");
    const other = await nutshell("apply", "done.nut", "--repo", "repo", how, "--allow-dirty");
    expect(other.code).not.toBe(0);
    expect(git("status", "--porcelain", "-uall").out).toBe(" M run.sh\n?? mine.txt\n");
    rmSync(join(repo, "mine.txt"));
    git("checkout", "-q", "--", ".");
    git("config", "filter.broken.smudge", "cat");
    expect((await nutshell("apply", "done.nut", "--repo", "repo", how)).code).toBe(0);
    expectWork();
  });

  it("puts a file back whose place a folder had taken, and the other way round", async () => {
    put(repo, { "deep/file.txt": "deep\n" });
    git("add", ".");
    git("commit", "-qm", "more");
    cpSync(repo, join(folder, "turned"), { recursive: true });
    rmSync(join(folder, "turned/gone.txt"));
    rmSync(join(folder, "turned/deep"), { recursive: true });
    put(join(folder, "turned"), { "gone.txt/inside.txt": "in\n", deep: "now a file\n", "z.txt": "z\n" });
    const made = await nutshell("finish", "turned", "-r", "request", "-o", "turned.nut", "-m", "turned", "--by", "Ada");
    expect(existsSync(join(folder, "turned.nut")), made.err).toBe(true);
    writeFileSync(join(repo, ".git/info/attributes"), "z.txt filter=broken\n");
    git("config", "filter.broken.smudge", "false");
    git("config", "filter.broken.required", "true");
    const stopped = await nutshell("apply", "turned.nut", "--repo", "repo");
    expect(stopped.code, stopped.out).toBe(2);
    untouched();
    expect([read("gone.txt"), read("deep/file.txt")]).toEqual(["gone\n", "deep\n"]);
    git("config", "filter.broken.smudge", "cat");
    const { code, err } = await nutshell("apply", "turned.nut", "--repo", "repo");
    expect(code, err).toBe(0);
    expect([read("gone.txt/inside.txt"), read("deep")]).toEqual(["in\n", "now a file\n"]);
    rmSync(join(folder, "turned"), { recursive: true });
  });

  it("leaves nothing half applied at a Ctrl-C", async () => {
    writeFileSync(join(repo, ".git/info/attributes"), "sub/** filter=slow\n");
    git("config", "filter.slow.smudge", `touch ${join(folder, "begun")}; sleep 20; cat`);
    const bin = fileURLToPath(new URL("../../bin/nutshell.js", import.meta.url));
    const child = spawn(process.execPath, [bin, "apply", "done.nut", "--repo", "repo"], {
      cwd: folder,
      env: { PATH: process.env.PATH, ...env() },
      stdio: "ignore",
    });
    const ended = new Promise<number | null>((done) => child.once("exit", (code) => done(code)));
    for (let n = 0; n < 600 && !existsSync(join(folder, "begun")); n += 1) await sleep(50);
    child.kill("SIGINT");
    expect(await ended).toBe(130);
    untouched();
    expect(existsSync(join(repo, "sub"))).toBe(false);
  });

  it("makes a branch and touches nothing else, once", async () => {
    const { code, out, err } = await nutshell("apply", "done.nut", "--repo", "repo", "--branch", "work/greet");
    expect(code, err).toBe(0);
    untouched();
    expect(git("show", "work/greet:a.txt").out).toBe("one\nTWO\nthree\n");
    expect((await nutshell("apply", "done.nut", "--repo", "repo", "--branch", "work/greet")).err).toContain(
      "--branch work/greet-2",
    );
    expect((await nutshell("apply", "done.nut", "--repo", "repo", "--branch", "-x y")).code).toBe(2);
    undo(out);
    expect(git("branch").out.trim()).toBe("* main");
  });

  it("writes a patch that plain git am applies, byte for byte", async () => {
    expect((await nutshell("apply", "done.nut", "--repo", "repo", "--patch", "w.patch")).code).toBe(0);
    untouched();
    expect(git("am", join(folder, "w.patch"))).toMatchObject({ status: 0 });
    expectWork();
    expect(git("log", "-1", "--format=%B").out).toContain("From: Eve");
    expect((await nutshell("apply", "done.nut", "--repo", "repo", "--patch", "-", "--json")).err).toContain(
      "name a file",
    );
  });

  it("merges three-way, shows conflicts as git does, and its line ends them", async () => {
    put(repo, { "a.txt": "ONE\ntwo\nthree\n", "other.txt": "x\n" });
    git("add", ".");
    git("commit", "-qm", "near");
    for (const how of ["--commit", "--index"]) {
      const { code, out, err } = await nutshell("apply", "done.nut", "--repo", "repo", how);
      expect(code, err).toBe(1);
      expect(out).toContain("both changed: a.txt");
      expect(read("a.txt")).toContain("<<<<<<<");
      undo(out);
      expect(git("status", "--porcelain").out).toBe("");
      expect(read("a.txt")).toBe("ONE\ntwo\nthree\n");
    }
  });

  it("says so when all of it is there already", async () => {
    await nutshell("apply", "done.nut", "--repo", "repo", "--commit");
    const head = git("rev-parse", "HEAD").out;
    const again = await nutshell("apply", "done.nut", "--repo", "repo", "--commit");
    expect(again).toMatchObject({ code: 0, out: expect.stringContaining("all of it is there already") });
    expect(git("rev-parse", "HEAD").out).toBe(head);
  });

  it("refuses a dirty tree, a file in the way and a commit it does not have, and changes nothing", async () => {
    put(repo, { "a.txt": "mine\n" });
    expect((await nutshell("apply", "done.nut", "--repo", "repo")).err).toContain("uncommitted changes in a.txt");
    expect((await nutshell("apply", "done.nut", "--repo", "repo", "--allow-dirty")).err).toContain(
      "both you and the delivery changed a.txt",
    );
    expect(read("a.txt")).toBe("mine\n");
    git("checkout", "-q", "--", ".");
    put(repo, { "blob.bin": "mine" });
    expect((await nutshell("apply", "done.nut", "--repo", "repo", "--commit")).code).toBe(2);
    expect(read("blob.bin")).toBe("mine");
    expect(read("a.txt")).toBe("one\ntwo\nthree\n");
    expect((await nutshell("apply", "done.nut", "--repo", "request")).err).toContain("--repo '<dir>'");
    expect((await nutshell("apply", "done.nut", "--repo", "repo", "--base", "nowhere")).err).toContain("log --oneline");
    expect((await nutshell("apply", "request", "--repo", "repo")).err).toContain("not a delivery");
    expect((await nutshell("apply", "done.nut", "--commit", "--index")).err).toContain("say one of");
  });
});

interface Forged {
  artifacts: Record<
    "files_created" | "files_modified" | "files_deleted" | "links",
    { path: string; target?: string }[]
  >;
  base: { commit: string; digest: string };
  patch?: string;
  files?: unknown;
}

describe("a stranger's delivery", () => {
  /** The honest delivery, with something else in it. */
  const forge = async (files: Record<string, string>, edit: (result: Forged) => void) => {
    const place = mkdtempSync(join(folder, "forgery-"));
    cpSync(join(folder, "forged"), place, { recursive: true });
    put(place, files);
    for (const name of ["nutshell.json", "delivery/result.json"]) {
      const document = JSON.parse(readFileSync(join(place, name), "utf8"));
      edit(document);
      delete document.files;
      writeFileSync(join(place, name), JSON.stringify(document));
    }
    await packFolder(place, { output: join(folder, "forged.nut"), ignoreRules: false });
  };
  const create = (path: string) => (result: Forged) =>
    result.artifacts.files_created.push({ path: `delivery/artifacts/${path}` });

  it("that names no commit is asked for one, in a line that asks for the same again", async () => {
    await forge({}, (result) => {
      delete (result as Partial<Forged>).base;
      delete result.patch;
    });
    const { code, err } = await nutshell("apply", "forged.nut", "--repo", "repo", "--branch", "fix/it");
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining("which commit its work began") });
    expect(err).toMatch(/hint: nutshell apply forged\.nut --repo \S+ --branch fix\/it --base HEAD/);
    expect((await nutshell("apply", "forged.nut", "--repo", "repo", "--branch", "fix/it", "--base", "HEAD")).code).toBe(
      0,
    );
  });

  it.each(["CLAUDE.md", ".gitattributes", "sub/.gitattributes", ".gitmodules", ".npmrc", "hooks/pre-commit"])(
    "brings %s only when it is trusted by name",
    async (path) => {
      git("config", "core.hooksPath", "hooks");
      await forge({ [`delivery/artifacts/${path}`]: "x\n" }, (result) => {
        create(path)(result);
        delete result.patch;
      });
      const { err } = await nutshell("apply", "forged.nut", "--repo", "repo", "--commit");
      expect(err).toContain(`--trust ${path}`);
      untouched();
      const trusted = await nutshell("apply", "forged.nut", "--repo", "repo", "--commit", "--trust", path);
      expect(trusted.code, trusted.err).toBe(0);
      expect(read(path)).toBe("x\n");
    },
  );

  it.each<[string, Record<string, string>, (result: Forged) => void, RegExp]>([
    ["a patch that says something else", {}, (result) => result.artifacts.files_modified.pop(), /without naming it/],
    ["a file that is not named", { "delivery/artifacts/b.txt": "x" }, () => {}, /without naming it/],
    [
      "other artifacts than its patch",
      { "delivery/artifacts/b.txt": "x" },
      create("b.txt"),
      /says something else than the artifacts/,
    ],
    [
      "a link out of the tree",
      {},
      (r) => r.artifacts.links.push({ path: "l", target: "../../etc/passwd" }),
      /leads out/,
    ],
    ["a link into .git", {}, (r) => r.artifacts.links.push({ path: "l", target: ".git/hooks" }), /leads out/],
    ["a deletion out of the tree", {}, (r) => r.artifacts.files_deleted.push({ path: "../home" }), /leaves the result/],
    [
      "another tree than the commit's",
      {},
      (r) => Object.assign(r.base, { digest: `sha256:${"0".repeat(64)}` }),
      /not the tree of commit/,
    ],
    [
      "a commit that is an option",
      {},
      (r) => Object.assign(r.base, { commit: "--all" }),
      /full name of a commit|must be/,
    ],
  ])("is refused for %s, and nothing is changed", async (_, files, edit, words) => {
    await forge(files, edit);
    const { code, err } = await nutshell("apply", "forged.nut", "--repo", "repo", "--commit");
    expect(err).toMatch(words);
    expect(code).not.toBe(0);
    untouched();
  });
});

describe("a remote's address", () => {
  it.each([
    ["https://user:token@example.org/a.git?x=1#y", "https://example.org/a.git"],
    ["https://token@example.org/a.git", "https://example.org/a.git"],
    ["git@example.org:a/b.git", "git@example.org:a/b.git"],
    ["ssh://git:pw@example.org/a.git", "ssh://git@example.org/a.git"],
    ["/home/me/repo", null],
    ["file:///home/me/repo", null],
    ["C:\\repo", null],
    ["../repo", null],
  ])("%s is handed on as %s", (address, expected) => expect(publicRemote(address)).toBe(expected));
});
