import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { here } from "../run/here.js";
import { environment } from "../run/program.js";
import { root } from "./installed.js";

interface Action {
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly runs: {
    readonly using: string;
    readonly steps: readonly {
      readonly shell: string;
      readonly run: string;
      readonly env?: Readonly<Record<string, string>>;
    }[];
  };
}

const action = parse(readFileSync(join(root, "action.yml"), "utf8")) as Action;
let work: string;

beforeAll(() => {
  work = mkdtempSync(join(tmpdir(), "nutcracker-action-"));
  cpSync(join(root, "examples/1-bug-fix"), join(work, "task"), { recursive: true });
  // One check that starts nothing: each is run some ten times for every delivery, and the example's own have tests of theirs.
  const check = { id: "AC-001", description: "ends are cut", type: "shell", script: "tests/scripts/ends.sh" };
  const criteria = { criteria_version: "0.2.0", criteria: [{ ...check, expected: { exit_code: 0 } }] };
  writeFileSync(join(work, "task/tests/criteria.json"), JSON.stringify(criteria));
  writeFileSync(join(work, "task/tests/scripts/ends.sh"), "grep -qF '^-|-$' files/src/slug.mjs\n");
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

/** Runs the action's own steps, as a runner would, with a made-up environment. */
function runAction(inputs: Readonly<Record<string, string>>) {
  const files = { output: join(work, "output"), summary: join(work, "summary") };
  for (const file of Object.values(files)) writeFileSync(file, "");
  let stdout = "";
  let status: number | null = 0;
  for (const step of action.runs.steps) {
    const given = Object.entries(step.env ?? {}).map(([name, value]) => [
      name,
      value.replace(/\$\{\{ inputs\.(\w+) \}\}/g, (_, input: string) => inputs[input] ?? ""),
    ]);
    const done = spawnSync("bash", ["-e", "-o", "pipefail", "-c", step.run], {
      cwd: work,
      encoding: "utf8",
      env: {
        PATH: process.env.PATH,
        HOME: work,
        CI: "true",
        GITHUB_ACTIONS: "true",
        GITHUB_ACTION_PATH: root.replace(/\/$/, ""),
        GITHUB_WORKSPACE: work,
        GITHUB_OUTPUT: files.output,
        GITHUB_STEP_SUMMARY: files.summary,
        ...Object.fromEntries(given),
      },
    });
    stdout += done.stdout;
    status = done.status;
    if (status !== 0) break;
  }
  return { status, stdout, output: readFileSync(files.output, "utf8"), summary: readFileSync(files.summary, "utf8") };
}

/** What the action is given is made in this process. */
async function made(program: "nexus" | "nutshell", ...args: readonly string[]) {
  const done = await here(program, work, args);
  expect(done.status, done.stderr).toBe(0);
  return done;
}
const nutshell = (...args: string[]) => made("nutshell", ...args);

describe("the GitHub Action", async () => {
  it("is composite, runs Node only and never puts an input into a command", () => {
    expect(action.runs.using).toBe("composite");
    expect(Object.keys(action.inputs)).toEqual(
      "path request rerun identity base install signers policy require junit".split(" "),
    );
    expect(action.runs.steps.filter(({ run }) => run.includes("${{"))).toEqual([]);
    expect(action.runs.steps.filter((step) => "uses" in step)).toEqual([]);
  });

  it("says yes to a complete task, as a folder and as a bundle", async () => {
    await nutshell("pack", "--dir", "task", "-o", "task.nut");
    const { status, output, summary } = runAction({ path: "task\n  task.nut  \n" });
    expect({ status, output }).toEqual({ status: 0, output: "ok=true\n" });
    expect(summary).toContain("| task | check | ✅ ready |");
    expect(summary).toContain("| task.nut | validate | ✅ valid |");
  });

  it("takes patterns, and writes what it found as JUnit", async () => {
    await nutshell("pack", "--dir", "task", "-o", "many-1.nut");
    await nutshell("init", "--dir", "many-draft");
    const { status, summary } = runAction({ path: "many-*", junit: "report.xml" });
    expect({ status }, summary).toEqual({ status: 1 });
    const report = readFileSync(join(work, "report.xml"), "utf8");
    expect(report).toContain('<testsuite name="many-1.nut" tests="2" failures="0">');
    expect(report).toMatch(/<testcase classname="many-draft" name="check"><failure message="(draft|incomplete);/);
    expect(runAction({ path: "none-*.nut" }).status).toBe(2);
  });

  it("says no, with an annotation for every error, when something is missing", async () => {
    await nutshell("init", "--dir", "draft");
    const { status, stdout, output, summary } = runAction({ path: "draft" });
    expect({ status, output }).toEqual({ status: 1, output: "ok=false\n" });
    expect(stdout).toMatch(/^::error file=draft::\S/m);
    expect(summary).toMatch(/\| draft \| check \| ❌ (draft|incomplete) \|/);
  });

  it("could not look at what is not there", () => {
    const { status, output } = runAction({ path: "nowhere.nut" });
    expect({ status, output }).toEqual({ status: 2, output: "ok=false\n" });
    expect(runAction({ path: " " }).status).toBe(2);
  });

  it("lets no bundle write workflow commands or markup", () => {
    cpSync(join(work, "task"), join(work, "hostile"), { recursive: true });
    const path = join(work, "hostile/nutshell.json");
    const manifest = JSON.parse(readFileSync(path, "utf8"));
    manifest.task.description = "";
    manifest.context = { ...manifest.context, "<img src=x>|\n::set-output name=ok::true": "gone\n::error::x.md" };
    manifest.id = "a\n::stop-commands::x";
    writeFileSync(path, JSON.stringify(manifest));
    const { status, stdout, summary } = runAction({ path: "hostile" });
    expect(status).not.toBe(0);
    expect(stdout.split("\n").filter((line) => /^::(?!error file|warning file)/.test(line))).toEqual([]);
    expect(summary).not.toContain("<img");
    const named = runAction({ path: "no\r::set-output name=ok::true.nut" }).stdout;
    expect(named.split(/[\r\n]/).filter((line) => line.startsWith("::set-output"))).toEqual([]);
  });

  it("lets no name of a file write workflow commands", () => {
    const names = ["::notice::q.nut", "  ::warning::q.nut", "q##[add-mask]a.nut", "q\u001b[2K\u202e.nut"];
    for (const name of names) writeFileSync(join(work, name), "no bundle");
    try {
      const { status, stdout } = runAction({ path: "*q*.nut" });
      expect({ status }).toEqual({ status: 2 });
      const lines = stdout.split("\n").filter((line) => !/^::(?:error|warning) file=[^:,]*::/.test(line));
      expect(lines.filter((line) => /^\s*::|##\[/.test(line))).toEqual([]);
      expect(stdout).not.toMatch(/[^\n\P{Cc}]|\p{Cf}/u);
    } finally {
      for (const name of names) rmSync(join(work, name));
    }
  });

  it("judges all that fits a pattern, although a file bears the pattern's own name", async () => {
    await nutshell("pack", "--dir", "task", "-o", "own-*.nut");
    writeFileSync(join(work, "own-bad.nut"), "no bundle");
    expect(runAction({ path: "own-*.nut" })).toMatchObject({ status: 2, output: "ok=false\n" });
  });

  it("verifies a delivery against its request, and runs its acceptance again when asked", async () => {
    await nutshell("pack", "--dir", "task", "-o", "request.nut");
    await made("nexus", "run", "request.nut", "--driver", "demo", "-o", "delivery.nut", "--yes");
    const { status, output, summary } = runAction({ path: "delivery.nut", request: "request.nut", rerun: "true" });
    expect({ status, output }, summary).toEqual({ status: 0, output: "ok=true\n" });
    expect(summary).toContain("| delivery.nut | verify | ✅ verified&#58; completed |");
    expect(summary).toMatch(/\| AC-\d+ \| passed \| proven \|/);
  });

  it("finds the commit a delivery began with in the repository it is told, and installs what checks need when allowed", async () => {
    cpSync(join(work, "task"), join(work, "beside"), { recursive: true });
    writeFileSync(join(work, "beside/tests/install.sh"), "mkdir -p .cache && echo there > .cache/word\n");
    writeFileSync(join(work, "beside/tests/word.sh"), "grep -q there .cache/word\n");
    await nutshell("set", "acceptance.install", "tests/install.sh", "--append", "--dir", "beside");
    await nutshell("set", "acceptance.test_scripts", "tests/word.sh", "--append", "--dir", "beside");
    cpSync(join(work, "task/files"), join(work, "elsewhere/files"), { recursive: true });
    const git = (...args: string[]) => {
      const name = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
      expect(spawnSync("git", ["-C", join(work, "elsewhere"), ...name, ...args]).status).toBe(0);
    };
    git("init", "-q", "-b", "main");
    git("add", ".");
    git("commit", "-qm", "start");
    const fixed =
      'export const slug = (title) => title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");\n';
    writeFileSync(join(work, "elsewhere/files/src/slug.mjs"), fixed);
    const points = [1, 2, 3].flatMap((n) => ["--point", `${n}: seen`]);
    const finish = ["finish", "elsewhere", "-r", "beside", "--base", "HEAD", "-o", "based.nut", "-m", "x", ...points];
    // Another home: what may be installed is remembered in it.
    const env = environment(join(work, "worker"));
    const done = await here("nutshell", work, [...finish, "--allow-install", "--trials", "1"], env);
    expect(done.stdout, done.stderr).toContain("based.nut");
    git("checkout", "-q", ".");
    const inputs = { path: "based.nut", request: "beside", rerun: "true" };
    expect(runAction(inputs)).toMatchObject({
      status: 2,
      summary: expect.stringContaining("which is not in a repository"),
    });
    const refused = runAction({ ...inputs, base: "elsewhere" });
    expect(refused).toMatchObject({ status: 2, summary: expect.stringContaining("nobody allowed the network") });
    const { status, summary } = runAction({ ...inputs, base: "elsewhere", install: "true" });
    expect({ status }, summary).toEqual({ status: 0 });
  }, 120_000);

  it("asks who signed, by the list and the policy it is given", async () => {
    await nutshell("keygen", "--peer", "-o", "bob.key");
    await nutshell("sign", "delivery.nut", "--key", "bob.key");
    const blob = Buffer.concat([Buffer.from([0, 0, 0, 11]), Buffer.from("ssh-ed25519"), Buffer.from([0, 0, 0, 32])]);
    const line = Buffer.concat([blob, readFileSync(join(work, "bob.key")).subarray(32)]).toString("base64");
    writeFileSync(join(work, "signers"), `bob@example.org ssh-ed25519 ${line}\n`, { mode: 0o644 });
    writeFileSync(join(work, "policy.yml"), "version: 1\ndeliveries:\n  signers: [bob@example.org]\n");
    const inputs = { path: "delivery.nut", request: "request.nut", rerun: "false" };
    const asked = { ...inputs, policy: "policy.yml", require: "bob@example.org\n" };
    const known = runAction({ ...asked, signers: "signers" });
    expect({ status: known.status }, known.summary).toEqual({ status: 0 });
    const unknown = runAction(asked);
    expect(unknown.status).toBe(1);
    expect(unknown.summary).toContain("it must be signed by bob&#64;example.org");
    expect(unknown.summary).toContain("no trusted signature by bob&#64;example.org is on it");
  });

  it("runs hidden checks with a key, and names none of them", async () => {
    cpSync(join(work, "task"), join(work, "sealed"), { recursive: true });
    const criteria = [{ id: "NOBODY-KNOWS", type: "shell", command: "test -s files/src/slug.mjs" }];
    writeFileSync(join(work, "hidden.json"), JSON.stringify({ criteria }));
    await nutshell("keygen", "-o", "verifier.key");
    const recipient = /age1\w+/.exec(readFileSync(join(work, "verifier.key"), "utf8"))![0];
    await nutshell("hide", "sealed", "--criteria", "hidden.json", "-r", recipient);
    const run = await made("nexus", "run", "sealed", "--driver", "demo", "-o", "sealed.nut", "--yes");
    expect(run.stdout, run.stderr).toContain("1 hidden, not run");
    const inputs = { path: "sealed.nut", request: "sealed", rerun: "true" };
    const { status, stdout, summary } = runAction({ ...inputs, identity: "verifier.key" });
    expect({ status }, summary).toEqual({ status: 0 });
    expect(summary).toContain("| hidden 1 | passed | proven |");
    expect(stdout + summary).not.toContain("NOBODY-KNOWS");
  }, 120_000);
});
