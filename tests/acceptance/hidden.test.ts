// Checks that only whoever verifies can read: sealed, counted by everybody, run for one who has the key.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type PassThrough, Readable, Writable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { compareTrees, copyTree, writeArtifacts } from "../../src/acceptance/index.js";
import { contentDigest } from "../../src/bundle/index.js";
import { main } from "../../src/cli/main.js";
import { program } from "../../src/commands/nutshell/program.js";
import { put } from "./room.js";

let folder: string;
let recipient: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "nut-hidden-"));
  put(folder, { "tmp/.keep": "" });
  put(join(folder, "request"), {
    "nutshell.json": JSON.stringify({
      nutshell_version: "0.2.0",
      bundle_type: "request",
      id: ID,
      task: { title: "Add up", summary: "add up what is given" },
      acceptance: { criteria_file: "tests/criteria.json" },
    }),
    "tests/criteria.json": JSON.stringify({
      criteria: [{ id: "AC-1", type: "shell", script: "tests/check.sh" }],
    }),
    "tests/check.sh": '[ "$(sh files/total.sh 1 2)" = 3 ]\n',
    "files/total.sh": "echo 0\n",
    "hidden.json": JSON.stringify({
      criteria: [
        { id: "SECRET-NAME", type: "shell", command: "sh tests/hidden/more.sh" },
        { id: "ANOTHER", type: "shell", script: "tests/hidden/again.sh" },
      ],
    }),
    "tests/hidden/more.sh": '[ "$(sh files/total.sh 100 20)" = 120 ]\n',
    "tests/hidden/again.sh": 'echo a-secret-word; [ "$(sh files/total.sh 7 8)" = 15 ]\n',
  });
  recipient = JSON.parse((await nutshell("keygen", "-o", "who.key", "--json")).out).recipient;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const ID = "nut-11111111-1111-4111-8111-111111111111";
const HONEST = 'total=0\nfor n in "$@"; do total=$((total + n)); done\necho $total\n';
const HARD_CODED = 'case "$*" in "1 2") echo 3 ;; *) echo 0 ;; esac\n';

async function nutshell(...argv: string[]) {
  const text = { out: "", err: "" };
  const sink = (key: "out" | "err") =>
    new Writable({
      write(chunk, _encoding, done) {
        text[key] += chunk;
        done();
      },
    });
  const code = await main(program, argv, {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: join(folder, "home"), TMPDIR: join(folder, "tmp"), NUTCRACKER_CONSENT: "all" },
    now: () => new Date("2026-01-01T00:00:00Z"),
    signal: new AbortController().signal,
    stdin: () => Readable.from([]) as PassThrough,
    stdout: sink("out"),
    stderr: sink("err"),
    ask: null,
  });
  expect(readdirSync(join(folder, "tmp"))).toEqual([".keep"]);
  return { code, ...text };
}

const hide = (...more: string[]) =>
  nutshell("hide", "request", "--criteria", "request/hidden.json", "-r", recipient, ...more);
const at = (...parts: string[]) => join(folder, ...parts);
const manifest = () => JSON.parse(readFileSync(at("request/nutshell.json"), "utf8"));

/** Work in a copy of the request as it is now, and a delivery of it that says it is complete. */
function work(total: string): void {
  copyTree(at("request"), at("work"));
  put(at("work"), { "files/total.sh": total });
  const changes = compareTrees(at("request"), at("work"));
  writeArtifacts(at("work"), at("delivery"), changes);
  const names = { nutshell_version: "0.2.0", bundle_type: "delivery", request_id: ID, status: "completed" };
  put(at("delivery"), {
    "nutshell.json": JSON.stringify({ ...names, id: "nut-22222222-2222-4222-8222-222222222222" }),
    "delivery/result.json": JSON.stringify({
      ...names,
      artifacts: { files_modified: changes.map(({ path }) => ({ path: `delivery/artifacts/${path}` })) },
      digests: { request: contentDigest(at("request")) },
    }),
  });
}

const verify = (...more: string[]) => nutshell("verify", "delivery", "-r", "request", ...more);
const withKey = ["--rerun", "--identity", "who.key"];

describe("hide", () => {
  it("seals criteria and scripts, counts them in the manifest and leaves nothing in clear", async () => {
    const { code, out } = await hide();
    expect(out).toContain("2 checks hidden in acceptance/hidden.age, for 1 key");
    expect(code).toBe(0);
    expect(manifest().acceptance.hidden).toMatchObject({ count: 2, recipients: 1 });
    expect(existsSync(at("request/tests/hidden"))).toBe(false);
    expect(existsSync(at("request/hidden.json"))).toBe(false);
    expect(existsSync(at("request/tests/check.sh"))).toBe(true);
    const everything = readdirSync(at("request"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.includes("."))
      .map((name) => readFileSync(at("request", name), "latin1"))
      .join("\n");
    expect(everything).not.toMatch(/SECRET-NAME|a-secret-word/);
  });

  it("takes nothing away when it cannot seal", async () => {
    expect((await nutshell("hide", "request", "--criteria", "request/hidden.json", "-r", "age1nobody")).code).toBe(2);
    rmSync(at("request/tests/hidden/again.sh"));
    const { code, err } = await hide();
    expect(err).toContain('"ANOTHER" names tests/hidden/again.sh, which is not in the request');
    expect(code).toBe(2);
    expect(existsSync(at("request/tests/hidden/more.sh"))).toBe(true);
    expect(existsSync(at("request/acceptance"))).toBe(false);
  });

  it("leaves what a visible check uses, and takes along what it is asked to", async () => {
    const criteria = [{ id: "H", type: "shell", command: "sh tests/check.sh && cat cases/1.txt" }];
    put(at("request"), { "hidden.json": JSON.stringify({ criteria }), "cases/1.txt": "one\n", "cases/2.txt": "two\n" });
    const { out } = await hide("--also", "cases", "--json");
    expect(JSON.parse(out)).toMatchObject({ sealed: ["cases/1.txt", "cases/2.txt"], count: 1 });
    expect(existsSync(at("request/tests/check.sh"))).toBe(true);
    expect(existsSync(at("request/cases"))).toBe(false);
  });

  it("refuses names that are taken, what a person judges, and to seal twice", async () => {
    const criteria = (row: object) => put(at("request"), { "hidden.json": JSON.stringify({ criteria: [row] }) });
    criteria({ id: "AC-1", type: "shell", command: "true" });
    expect((await hide()).err).toContain('two criteria are called "AC-1"');
    criteria({ id: "H", type: "shell", command: "true", auto_verifiable: false });
    expect((await hide()).err).toContain("cannot be hidden");
    criteria({ id: "H", type: "shell", command: "true" });
    expect((await hide()).code).toBe(0);
    criteria({ id: "H", type: "shell", command: "true" });
    expect((await hide()).err).toContain("checks are hidden here already");
    expect((await hide("--replace")).code).toBe(0);
  });

  it("reads recipients from a file, and hides for one's own key when nobody is named", async () => {
    put(folder, { "team.txt": `# who verifies\n${recipient}\n\n` });
    expect((await nutshell("hide", "request", "-c", "request/hidden.json", "-R", "team.txt")).code).toBe(0);
    put(at("request"), { "hidden.json": JSON.stringify({ criteria: [{ id: "H", type: "shell", command: "true" }] }) });
    const alone = ["hide", "request", "-c", "request/hidden.json", "--replace"];
    expect((await nutshell(...alone)).err).toContain("nobody to hide the checks for");
    await nutshell("keygen");
    expect((await nutshell(...alone)).code).toBe(0);
  });
});

describe("everybody", () => {
  it("sees that there are some, how many, and their digest", async () => {
    await hide();
    const { digest } = manifest().acceptance.hidden;
    expect((await nutshell("check", "request")).out).toContain(`2 hidden, for 1 key (${digest})`);
    expect((await nutshell("pack", "--dir", "request", "-o", "request.nut")).code).toBe(0);
    expect((await nutshell("inspect", "request.nut")).out).toContain(`2 checks for 1 key, ${digest}`);
    work(HONEST);
    const { out } = await verify();
    expect(out).toContain(`2 hidden, not run ${digest}`);
  });

  it("refuses a file that was swapped, dropped or put there", async () => {
    await hide();
    work(HONEST);
    const sealed = readFileSync(at("request/acceptance/hidden.age"));
    const refused = async (why: string) => {
      for (const asked of [
        ["verify", "delivery", "-r", "request", ...withKey],
        ["accept", "work", "-r", "request", "-i", "who.key"],
        ["pack", "--dir", "request", "-o", "out.nut", "--force"],
      ]) {
        const { code, err } = await nutshell(...asked);
        expect([asked[0], code, err]).toEqual([asked[0], 2, expect.stringContaining(why)]);
      }
      expect((await nutshell("check", "request")).code).toBe(1);
    };
    writeFileSync(at("request/acceptance/hidden.age"), sealed.subarray(0, -1));
    await refused("is not the one the manifest names");
    rmSync(at("request/acceptance"), { recursive: true });
    await refused("is missing");
    const told = manifest();
    mkdirSync(at("request/acceptance"));
    writeFileSync(at("request/acceptance/hidden.age"), sealed);
    delete told.acceptance.hidden;
    put(at("request"), { "nutshell.json": JSON.stringify(told) });
    await refused("does not speak of hidden checks");
  });

  it("refuses hidden checks of another request", async () => {
    await hide();
    const told = manifest();
    put(at("request"), { "nutshell.json": JSON.stringify({ ...told, id: `${ID.slice(0, -1)}9` }) });
    const { code, err } = await nutshell("accept", "request", "-i", "who.key");
    expect(err).toContain(`the hidden checks belong to ${ID}`);
    expect(code).toBe(2);
  });

  it("cannot pack what is still there in clear", async () => {
    const script = readFileSync(at("request/tests/hidden/more.sh"), "utf8");
    await hide();
    put(at("request"), { "notes/copy.txt": script });
    const { code, err } = await nutshell("pack", "--dir", "request", "-o", "out.nut");
    expect(err).toContain("notes/copy.txt is hidden, but lies in clear");
    expect(code).toBe(2);
    expect(existsSync(at("out.nut"))).toBe(false);
  });
});

describe("whoever has no key", () => {
  it("is told that they were not run, and believes nothing", async () => {
    await hide();
    work(HONEST);
    const accepted = await nutshell("accept", "work", "-r", "request", "--junit", "report.xml");
    expect(accepted.out).toContain("2 hidden, not run");
    const report = readFileSync(at("report.xml"), "utf8");
    expect(report).toContain('tests="3" failures="0" errors="2"');
    expect(report.match(/<error type="not run" message="hidden, not run"\/>/g)).toHaveLength(2);
    expect(accepted.code).toBe(1);
    const verified = await verify("--rerun");
    expect(verified.out).toContain("not verified: completed is claimed, but 2 hidden, not run");
    expect(verified.code).toBe(1);
    await nutshell("keygen", "-o", "other.key");
    expect((await verify("--rerun", "-i", "other.key")).code).toBe(1);
    expect((await verify("--allow", "recorded")).code).toBe(1);
  });
});

describe("whoever has the key", () => {
  it("verifies honest work", async () => {
    await hide();
    work(HONEST);
    const accepted = await nutshell("accept", "work", "-r", "request", "-i", "who.key");
    expect(accepted.out).toContain("2 of 2 hidden passed");
    expect(accepted.code).toBe(0);
    const verified = await verify(...withKey);
    expect(verified.out).toContain("verified: completed");
    expect(verified.code).toBe(0);
  });

  it("catches answers that fit the visible cases alone, and hands on nothing of what was hidden", async () => {
    await hide();
    work(HARD_CODED);
    const accepted = await nutshell(
      ...["accept", "work", "-r", "request", "-i", "who.key", "--logs", "logs", "--junit", "report.xml", "--json"],
    );
    expect(accepted.code).toBe(1);
    const { verdict, results, hidden } = JSON.parse(accepted.out);
    expect(verdict).toBe("failed");
    expect(results).toMatchObject([{ id: "AC-1", status: "passed" }]);
    expect(hidden.results).toEqual([
      { id: "hidden 1", name: "SECRET-NAME", status: "failed", evidence: "proven" },
      { id: "hidden 2", name: "ANOTHER", status: "failed", evidence: "proven" },
    ]);
    expect(accepted.out).not.toContain("a-secret-word");
    const kept = [readFileSync(at("report.xml"), "utf8"), ...readdirSync(at("logs"))].join("\n");
    expect(kept).toContain('name="hidden 2"');
    expect(kept).not.toMatch(/SECRET|secret|ANOTHER/);
    const verified = await verify(...withKey);
    expect(verified.out).toContain("hidden 1 is failed");
    expect(verified.code).toBe(1);
  });

  it("runs them where no other check can look", async () => {
    // The work keeps what it finds of tests, wherever it may, and looks there later.
    const spy =
      'ls tests > seen.txt; cp -r tests /tmp/tests 2>/dev/null; cat seen.txt; find /tmp /var /home . -name "again.sh" 2>/dev/null\n';
    put(at("request"), {
      "tests/check.sh": `sh files/total.sh 1 2 > out.txt; ! grep -q hidden out.txt && ! grep -q again out.txt && grep -q check out.txt\n`,
    });
    await hide();
    work(spy);
    const { out } = await nutshell("accept", "work", "-r", "request", "-i", "who.key", "--json");
    expect(JSON.parse(out).results[0]).toMatchObject({ id: "AC-1", status: "passed" });
  });
});
