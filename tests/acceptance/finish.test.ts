// Work done by hand on its way home: finish, then verify; every wrong turn gets a sentence with a way on.
// Long because: one command is told from its first word to its last, wrong turns included.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openBundle, packFolder } from "../../src/bundle/index.js";
import { runNutshell } from "../cli/run-nutshell.js";
import { put } from "./room.js";

const ID = "nut-11111111-1111-4111-8111-111111111111";
let folder: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "nut-finish-"));
  mkdirSync(join(folder, "tmp"));
  put(join(folder, "request"), {
    "nutshell.json": JSON.stringify({
      nutshell_version: "0.2.0",
      bundle_type: "request",
      id: ID,
      created_at: "2026-03-14T10:00:00Z",
      task: { title: "Greet", summary: "say hello" },
      context: { requirements: "context/requirements.md" },
      acceptance: { criteria_file: "tests/criteria.json" },
    }),
    "context/requirements.md": "say hello\n",
    "tests/criteria.json": JSON.stringify({ criteria: [{ id: "AC-1", type: "shell", script: "tests/greets.sh" }] }),
    "tests/greets.sh": "grep -q hello files/greeting.txt\n",
    "files/greeting.txt": "nothing\n",
    "files/old.txt": "old\n",
  });
  await packFolder(join(folder, "request"), { output: join(folder, "request.nut") });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const nutshell = async (...argv: string[]) => {
  const env = { HOME: join(folder, "home"), TMPDIR: join(folder, "tmp"), NUTCRACKER_CONSENT: "all" };
  const run = await runNutshell(argv, { cwd: folder, env });
  expect(readdirSync(join(folder, "tmp"))).toEqual([]);
  return run;
};
const unpacked = () => nutshell("unpack", "request.nut", "-o", "work");
const result = () => JSON.parse(readFileSync(join(folder, "work/delivery/result.json"), "utf8"));
const VERIFY = ["verify", "done.nut", "-r", "request.nut", "--rerun"];

describe("nutshell finish", () => {
  it("delivers a folder edited in place, every kind of change in it, and it verifies", async () => {
    await unpacked();
    const work = join(folder, "work");
    rmSync(join(work, "files/old.txt"));
    put(work, {
      "files/greeting.txt": "hello\n",
      "files/run.sh": "exit 0\n",
      "node_modules/x/index.js": "1\n",
      ".claude/settings.json": "{}\n",
      "earlier.nut": "x",
      "tests/greets.sh": "exit 0\n",
    });
    chmodSync(join(work, "files/run.sh"), 0o755);
    writeFileSync(join(work, "files/blob.bin"), Buffer.from([0, 255, 13, 10]));
    symlinkSync("greeting.txt", join(work, "files/link"));
    mkdirSync(join(work, "files/empty"));
    const before = readFileSync(join(work, "nutshell.json"), "utf8");
    const done = await nutshell(
      "finish",
      "work",
      "-r",
      "request.nut",
      "-o",
      "done.nut",
      "-m",
      "said hello",
      "--by",
      "Ada",
      "--json",
    );
    expect(done.code, done.err).toBe(0);
    const answer = JSON.parse(done.out);
    expect(answer).toMatchObject({ status: "completed", backed: true, gaps: [], compared_with: "the request" });
    expect(answer.left_out.map(({ path }: { path: string }) => path).sort()).toEqual(
      [".claude", "earlier.nut", "node_modules", "tests/greets.sh"].sort(),
    );
    expect(readFileSync(join(work, "nutshell.json"), "utf8")).toBe(before);
    expect(result()).toMatchObject({
      summary: "said hello",
      deliverer: { name: "Ada" },
      artifacts: {
        files_created: [{ path: "delivery/artifacts/files/blob.bin" }, { path: "delivery/artifacts/files/run.sh" }],
        files_modified: [{ path: "delivery/artifacts/files/greeting.txt" }],
        files_deleted: [{ path: "files/old.txt" }],
        links: [{ path: "files/link", target: "greeting.txt" }],
        folders: [{ path: "files/empty" }],
      },
    });
    const verified = await nutshell(...VERIFY);
    expect(verified.out).toContain("verified: completed");
    expect(verified.code).toBe(0);
  }, 60_000);

  it("delivers a folder that became a file, and a file that became a folder", async () => {
    put(join(folder, "request"), {
      "files/deep/inner.txt": "inner\n",
      "tests/greets.sh": "test -f files/deep && grep -q hello files/old.txt/new.txt\n",
    });
    await packFolder(join(folder, "request"), { output: join(folder, "turned.nut") });
    await nutshell("unpack", "turned.nut", "-o", "turned");
    const work = join(folder, "turned");
    for (const name of ["files/deep", "files/old.txt"]) rmSync(join(work, name), { recursive: true });
    put(work, { "files/deep": "a file now\n", "files/old.txt/new.txt": "hello\n" });
    const done = await nutshell(
      "finish",
      "turned",
      "-r",
      "turned.nut",
      "-o",
      "done.nut",
      "-m",
      "turned",
      "--by",
      "Ada",
    );
    expect(done.code, done.err + done.out).toBe(0);
    const verified = await nutshell("verify", "done.nut", "-r", "turned.nut", "--rerun");
    expect(verified.out, verified.err).toContain("verified: completed");
  });

  it("takes a copy of files/ for what it is, and says less than completed of work that fails", async () => {
    put(join(folder, "mine"), { "greeting.txt": "good day\n", "old.txt": "old\n" });
    const { code, out } = await nutshell("finish", "mine", "-r", "request.nut", "-o", "done.nut", "--json");
    expect(JSON.parse(out)).toMatchObject({
      status: "failed",
      backed: false,
      compared_with: "files/ of the request",
      files: [{ path: "files/greeting.txt", change: "modified" }],
      written: null,
    });
    expect(code).toBe(1);
    expect(readdirSync(join(folder, "mine")).sort()).toEqual(["greeting.txt", "old.txt"]);
  }, 60_000);

  it("keeps what a person wrote into result.json, and replaces only its own delivery", async () => {
    await unpacked();
    const own = { status: "partial", summary: "mine", execution_log: { decisions: [{ decision: "d" }] } };
    put(join(folder, "work"), {
      "files/greeting.txt": "hello\n",
      "delivery/result.json": JSON.stringify(own),
      "delivery/logs/execution.log": "log\n",
    });
    const first = await nutshell("finish", "work", "-r", "request.nut", "-o", "done.nut", "--no-accept");
    expect(first.out, first.err).toContain("nothing is proven");
    expect(result()).toMatchObject({
      summary: "mine",
      status: "partial",
      execution_log: { decisions: [{ decision: "d" }], full_log: "delivery/logs/execution.log" },
    });
    const id = result().id;
    put(join(folder, "work"), { "files/greeting.txt": "hello again\n" });
    await nutshell("finish", "work", "-r", "request.nut", "-o", "done.nut", "--no-accept");
    const bundle = await openBundle(join(folder, "done.nut"));
    expect(bundle.manifest.id).toBe(id);
    await bundle.close();
    writeFileSync(join(folder, "taken.nut"), "mine");
    const refused = await nutshell("finish", "work", "-r", "request.nut", "-o", "taken.nut", "--no-accept");
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("name another file: -o '<file>'") });
    expect(readFileSync(join(folder, "taken.nut"), "utf8")).toBe("mine");
  }, 60_000);

  it("gives the name to one of two who finish at once, and the other hears so", async () => {
    const finish = async (who: string) => {
      put(join(folder, who), { "greeting.txt": `hello from ${who}\n` });
      mkdirSync(join(folder, `tmp-${who}`));
      const env = { HOME: join(folder, "home"), TMPDIR: join(folder, `tmp-${who}`), NUTCRACKER_CONSENT: "all" };
      const argv = ["finish", who, "-r", "request.nut", "-o", "done.nut", "-m", who, "--by", who, "--json"];
      return { who, ...(await runNutshell(argv, { cwd: folder, env })) };
    };
    const both = await Promise.all([finish("ada"), finish("bob")]);
    const [first, second] = both.sort((a, b) => a.code - b.code);
    expect([first!.code, second!.code], second!.err).toEqual([0, 2]);
    expect(second!.err).toContain("FILE_EXISTS");
    const bundle = await openBundle(join(folder, "done.nut"));
    const text = (await bundle.read("delivery/result.json")).toString();
    await bundle.close();
    expect(JSON.parse(text).summary).toBe(first!.who);
    expect(readdirSync(folder).filter((name) => name.includes("done.nut"))).toEqual(["done.nut"]);
  });

  it("asks on a terminal for what it cannot know", async () => {
    await unpacked();
    put(join(folder, "work"), { "files/greeting.txt": "hello\n" });
    const answers = ["said hello", "a file because short", "", "translate it", ""];
    const ask = { text: async () => answers.shift() ?? "", confirm: async () => true, secret: async () => "" };
    const env = { HOME: join(folder, "home"), TMPDIR: join(folder, "tmp"), NUTCRACKER_CONSENT: "all" };
    await runNutshell(["finish", "work", "-r", "request.nut", "-o", "done.nut", "--no-accept"], {
      cwd: folder,
      env,
      ask,
    });
    expect(result()).toMatchObject({
      summary: "said hello",
      execution_log: { decisions: [{ decision: "a file", reason: "short" }], issues_encountered: ["translate it"] },
    });
  });

  it("takes a no for no judgement", async () => {
    const manifest = JSON.parse(readFileSync(join(folder, "request/nutshell.json"), "utf8"));
    manifest.acceptance.checklist = ["it is short", "it is kind", "it is true"];
    put(join(folder, "request"), { "nutshell.json": JSON.stringify(manifest) });
    await packFolder(join(folder, "request"), { output: join(folder, "request.nut") });
    await unpacked();
    put(join(folder, "work"), { "files/greeting.txt": "hello\n" });
    const answers = ["said hello", "", "", "one word", "No", "n"];
    const ask = { text: async () => answers.shift() ?? "", confirm: async () => true, secret: async () => "" };
    const env = { HOME: join(folder, "home"), TMPDIR: join(folder, "tmp"), NUTCRACKER_CONSENT: "all" };
    const argv = ["finish", "work", "-r", "request.nut", "-o", "done.nut", "--no-accept"];
    await runNutshell(argv, { cwd: folder, env, ask });
    expect(answers).toEqual([]);
    const judged = result().acceptance_results.checklist.filter(
      ({ status }: { status: string }) => status === "passed",
    );
    expect(judged.map(({ item }: { item: string }) => item)).toEqual(["it is short"]);
  });

  it("answers every wrong turn with a way on, and leaves nothing behind", async () => {
    await unpacked();
    const turn = async (...argv: string[]) => {
      const { code, err } = await nutshell("finish", ...argv);
      expect(code).not.toBe(0);
      return err;
    };
    expect(await turn("work")).toContain("finish needs --request <request>");
    expect(await turn("work", "-r", "request.nut")).toContain("differs from the request");
    put(join(folder, "work"), { "node_modules/x.js": "1" });
    expect(await turn("work", "-r", "request.nut")).toContain("--with node_modules");
    expect(await turn("nowhere", "-r", "request.nut")).toContain("no such folder");
    put(join(folder, "elsewhere"), { "a.txt": "a" });
    expect(await turn("elsewhere", "-r", "request.nut")).toContain("--at files");
    expect(await turn("elsewhere", "-r", "request.nut", "--base", "HEAD")).toContain("no git repository");
    put(join(folder, "work"), { "files/greeting.txt": "hello\n" });
    expect(await turn("work", "-r", "request.nut", "--point", "7: x")).toContain("the request has no checklist");
    put(join(folder, "work"), { "delivery/result.json": "{" });
    expect(await turn("work", "-r", "request.nut")).toContain("not JSON");
    expect(readdirSync(folder).sort()).toEqual(["elsewhere", "home", "request", "request.nut", "tmp", "work"]);
    expect(existsSync(join(folder, "work/delivery/artifacts"))).toBe(false);
  });
});

describe("a delivery folder made by hand", () => {
  it("is not ready while its work would not be seen, and check names the command", async () => {
    await unpacked();
    put(join(folder, "work"), { "files/greeting.txt": "hello\n", "files/new.txt": "new\n" });
    await nutshell("set", "bundle_type", "delivery", "--dir", "work");
    const bare = await nutshell("check", "work");
    expect(bare.out).toContain("changed here, but not delivered: files/greeting.txt, files/new.txt");
    expect(bare.out).toContain("nutshell finish work --request");
    expect(bare.out).not.toContain("READY");
    expect(bare.out).not.toContain("an agent can start");
    expect((await nutshell("check", "work", "--fix")).out).toContain(
      "wrote an outline to fill in: delivery/result.json",
    );
    expect((await nutshell("check", "work")).out).toContain("still an outline to fill in");
    const said = { status: "completed", artifacts: { files_modified: [{ path: "files/greeting.txt" }] } };
    put(join(folder, "work"), { "delivery/result.json": JSON.stringify(said) });
    const inPlace = await nutshell("check", "work");
    expect(inPlace.out).toContain("lies outside delivery/artifacts/");
    expect((await nutshell("pack", "--dir", "work", "-o", "bad.nut")).code).toBe(1);
  });

  it("packed by a tool that looks for nothing is not verified, and the line verify names makes a delivery of it", async () => {
    await unpacked();
    put(join(folder, "work"), {
      "files/greeting.txt": "hello\n",
      "delivery/result.json": JSON.stringify({
        status: "completed",
        artifacts: { files_modified: [{ path: "files/greeting.txt" }] },
        acceptance_results: { tests_passed: 1 },
      }),
    });
    await nutshell("set", "bundle_type", "delivery", "--dir", "work");
    await packFolder(join(folder, "work"), { output: join(folder, "theirs.nut") });
    rmSync(join(folder, "work"), { recursive: true });
    const { code, out } = await nutshell("verify", "theirs.nut", "-r", "request.nut", "--rerun", "--trials", "1");
    expect({ code, out }).toMatchObject({
      code: 1,
      out: expect.stringContaining("files/greeting.txt; make a delivery"),
    });
    const [, unpack, finish] = /: nutshell (unpack .*) && nutshell (finish .*)$/m.exec(out)!;
    expect((await nutshell(...unpack!.split(" "))).code).toBe(0);
    const done = await nutshell(...finish!.split(" "), "-m", "x", "-o", "done.nut", "--trials", "1");
    expect(done, done.err).toMatchObject({ code: 0 });
    const home = await nutshell(...VERIFY, "--trials", "1", "--json");
    expect(JSON.parse(home.out)).toMatchObject({ verified: true, findings: [] });
  }, 60_000);

  it("with only what the seed's schema has is verified once its work passes here", async () => {
    await unpacked();
    put(join(folder, "work"), {
      "files/greeting.txt": "hello\n",
      "delivery/artifacts/files/greeting.txt": "hello\n",
      "delivery/result.json": JSON.stringify({
        status: "completed",
        artifacts: { files_modified: [{ path: "delivery/artifacts/files/greeting.txt", diff_lines: 2 }] },
        acceptance_results: { tests_passed: 1, tests_failed: 0 },
      }),
    });
    await nutshell("set", "bundle_type", "delivery", "--dir", "work");
    expect(await nutshell("check", "work")).toMatchObject({
      code: 0,
      out: expect.stringContaining("it can be handed over"),
    });
    expect((await nutshell("pack", "--dir", "work", "-o", "done.nut")).code).toBe(0);
    const { code, out } = await nutshell(...VERIFY);
    expect(out).toContain("verified: completed");
    expect(code).toBe(0);
  }, 60_000);

  it("with points only said waits for a person: verify names judge, and what is judged is verified", async () => {
    const manifest = JSON.parse(readFileSync(join(folder, "request/nutshell.json"), "utf8"));
    manifest.acceptance.checklist = ["it is polite"];
    put(join(folder, "request"), { "nutshell.json": JSON.stringify(manifest) });
    await packFolder(join(folder, "request"), { output: join(folder, "request.nut") });
    await unpacked();
    put(join(folder, "work"), {
      "delivery/artifacts/files/greeting.txt": "hello\n",
      "delivery/result.json": JSON.stringify({
        status: "completed",
        artifacts: { files_modified: [{ path: "delivery/artifacts/files/greeting.txt" }] },
        acceptance_results: { tests_passed: 1, checklist: [{ item: "it is polite", status: "passed" }] },
      }),
    });
    await nutshell("set", "bundle_type", "delivery", "--dir", "work");
    expect(await nutshell("pack", "--dir", "work", "-o", "done.nut")).toMatchObject({ code: 0, err: "" });
    const waiting = await nutshell(...VERIFY, "--trials", "1");
    expect(waiting).toMatchObject({ code: 1, out: expect.stringContaining('"it is polite" is only said') });
    expect(waiting.out).toContain("nutshell judge done.nut --request request.nut --all --status passed");
    const judged = ["judge", "done.nut", "-r", "request.nut", "--all", "--status", "passed", "--by", "Ada"];
    expect((await nutshell(...judged, "--why", "read it")).out).toContain("the delivery now says: completed");
    const { code, out } = await nutshell(...VERIFY, "--trials", "1");
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining("verified: completed") });
    expect(out).not.toContain("nutshell judge");
  }, 60_000);
});

describe("finish in a repository", () => {
  it("takes the name from that repository, and opens a sealed request with the key that is named", async () => {
    await unpacked();
    put(join(folder, "work"), { "files/greeting.txt": "hello\n" });
    const git = (...args: string[]) => spawnSync("git", ["-C", join(folder, "work"), ...args]);
    expect([git("init", "-q").status, git("config", "user.name", "Grace").status]).toEqual([0, 0]);
    const { public_key } = JSON.parse((await nutshell("keygen", "--peer", "-o", "key", "--json")).out);
    await nutshell("pack", "--dir", "request", "--peer", public_key, "-o", "sealed.nut");
    const finish = ["finish", "work", "-r", "sealed.nut", "-o", "done.nut", "-m", "said hello", "--no-accept"];
    expect((await nutshell(...finish)).err).toContain("sealed");
    const done = await nutshell(...finish, "--identity", "key");
    expect(done.out, done.err).toContain("delivery: ");
    expect(result().deliverer.name).toBe("Grace");
  });

  it("compares with the commit the work began with, and its patch and apply bring it home", async () => {
    const repo = join(folder, "repo");
    const git = (...args: string[]) => {
      const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
      const { status, stdout, stderr } = spawnSync("git", ["-C", repo, ...identity, ...args], { encoding: "utf8" });
      expect(status, `${args.join(" ")}: ${stderr}`).toBe(0);
      return stdout;
    };
    put(repo, { "files/greeting.txt": "nothing\n", "src/a.txt": "a\n", "src/b.txt": "b\n", ".gitignore": "*.log\n" });
    git("init", "-q", "-b", "main");
    git("add", ".");
    git("commit", "-qm", "start");
    put(repo, { "files/greeting.txt": "hello\n", "note.log": "x\n" });
    const made = await nutshell(
      "finish",
      "repo",
      "-r",
      "request.nut",
      "-o",
      "done.nut",
      "-m",
      "said hello",
      "--by",
      "Ada",
      "--json",
    );
    expect(JSON.parse(made.out || "{}"), made.err).toMatchObject({
      status: "completed",
      files: [{ path: "files/greeting.txt" }],
      left_out: [{ path: "note.log", why: "ignored" }],
    });
    const { next } = JSON.parse(made.out) as { next: string };
    const pasted = await nutshell(...next.split(" ").slice(1));
    expect(pasted.out, pasted.err).toContain("verified: completed");
    const lost = await nutshell(...VERIFY);
    expect(lost.err).toContain("which is not in a repository here");
    expect(lost.err).toContain("--base base");
    const verified = await nutshell(...VERIFY, "--base", "repo");
    expect(verified.out, verified.err).toContain("verified: completed");
    const dirty = await nutshell("apply", "done.nut", "--repo", "repo");
    expect(dirty).toMatchObject({ code: 1, err: expect.stringContaining("--branch '<name>'") });
    git("checkout", "-q", "--", ".");
    const applied = await nutshell("apply", "done.nut", "--repo", "repo");
    expect(applied.out, applied.err).toContain("staged: 0 files created, 1 modified, 0 deleted");
    expect(readFileSync(join(repo, "files/greeting.txt"), "utf8")).toBe("hello\n");
  }, 90_000);
});
