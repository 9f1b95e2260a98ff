// A person's judgement of what no program can decide: recorded by name, shown as such, and enough for the rest of a
// delivery whose automatic checks are proven here.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
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
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nut-judge-"));
  put(folder, { "tmp/.keep": "" });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const ID = "nut-11111111-1111-4111-8111-111111111111";
const RUN = { id: "AC-1", type: "shell", script: "tests/check.sh" };
const PERSON = { id: "AC-2", type: "shell", command: "true", auto_verifiable: false };

async function nutshell(argv: readonly string[], env: Record<string, string> = { NUTCRACKER_CONSENT: "all" }) {
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
    env: { PATH: process.env.PATH, HOME: join(folder, "home"), TMPDIR: join(folder, "tmp"), ...env },
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

interface Task {
  readonly criteria: readonly object[];
  readonly checklist?: readonly string[];
  /** What the check asks for. */
  readonly check?: string;
}

/** A request, and a delivery of work on it that a harness left open: partial, nobody has judged. */
function stage({ criteria, checklist = [], check = "grep -q hello files/text.md\n" }: Task, more: object = {}): void {
  const at = (name: string) => join(folder, name);
  put(at("request"), {
    "nutshell.json": JSON.stringify({
      nutshell_version: "0.2.0",
      bundle_type: "request",
      id: ID,
      task: { title: "Write", summary: "write a text" },
      acceptance: { criteria_file: "tests/criteria.json", checklist },
    }),
    "tests/criteria.json": JSON.stringify({ criteria }),
    "tests/check.sh": check,
    "files/text.md": "nothing\n",
  });
  copyTree(at("request"), at("work"));
  put(at("work"), { "files/text.md": "hello\n" });
  const changes = compareTrees(at("request"), at("work"));
  writeArtifacts(at("work"), at("delivery"), changes);
  const names = { nutshell_version: "0.2.0", bundle_type: "delivery", request_id: ID, status: "partial" };
  put(at("delivery"), {
    "nutshell.json": JSON.stringify({ ...names, id: "nut-22222222-2222-4222-8222-222222222222" }),
    "delivery/result.json": JSON.stringify({
      ...names,
      artifacts: { files_modified: changes.map(({ path }) => ({ path: `delivery/artifacts/${path}` })) },
      acceptance_results: {
        criteria: [{ id: "AC-1", status: "passed", evidence: "recorded" }],
        checklist: checklist.map((item) => ({ item, status: "unknown" })),
      },
      digests: { request: contentDigest(at("request")) },
      ...more,
    }),
  });
}

const result = () => JSON.parse(readFileSync(join(folder, "delivery/delivery/result.json"), "utf8"));
const ADA = ["--by", "Ada", "--why", "read all of it"];
const judge = (...more: string[]) => nutshell(["judge", "delivery", "-r", "request", ...ADA, ...more]);
const verify = (target = "delivery") => nutshell(["verify", target, "-r", "request", "--rerun"]);

describe("judge", () => {
  it("completes what a person has to say, and verify names the person", async () => {
    stage({ criteria: [RUN, PERSON], checklist: ["it is polite"] });
    const open = await verify();
    expect(open.code).toBe(1);
    const { code, out } = await judge("--all", "--status", "passed");
    expect(out).toContain("the delivery now says: completed");
    expect(code).toBe(0);
    expect(result().acceptance_results.checklist).toEqual([
      {
        item: "it is polite",
        status: "passed",
        evidence: "judged",
        judged_by: "Ada",
        judged_at: "2026-01-01T00:00:00.000Z",
        note: "read all of it",
      },
    ]);
    const verified = await verify();
    expect(verified.out).toContain("AC-2: passed, judged (Ada: read all of it)");
    expect(verified.out).toContain("verified: completed");
    expect(verified.code).toBe(0);
  });

  it("judges one by name; a no is heard", async () => {
    stage({ criteria: [RUN, PERSON], checklist: ["it is polite"] });
    await judge("--item", "it is polite", "--status", "passed");
    expect(result().status).toBe("partial");
    expect((await judge("--item", "AC-2", "--status", "failed")).out).toContain("now says: partial");
    expect((await verify()).code).toBe(1);
  });

  it("leaves no count and no share behind that says otherwise", async () => {
    const counts = { tests_passed: 1, tests_failed: 0, tests_skipped: 0, tests_for_person: 1 };
    const rows = [
      { id: "AC-1", status: "passed", evidence: "proven" },
      { id: "AC-2", status: "unknown" },
    ];
    stage(
      { criteria: [RUN, PERSON] },
      { completion_percentage: 50, acceptance_results: { ...counts, criteria: rows } },
    );
    const told = () => {
      const { completion_percentage, acceptance_results: said } = result();
      return [completion_percentage, said.tests_passed, said.tests_failed, said.tests_for_person];
    };
    await judge("--item", "AC-2", "--status", "passed");
    expect(told()).toEqual([100, 2, 0, 0]);
    // What a person takes back is not a hundred per cent of anything.
    await judge("--item", "AC-2", "--status", "failed");
    expect([result().status, ...told()]).toEqual(["partial", 99, 1, 1, 0]);
  });

  it("completes a refactoring: guards hold and someone judged the change", async () => {
    stage({ criteria: [RUN], checklist: ["the text is clearer"], check: "test -s files/text.md\n" });
    await judge("--all", "--status", "passed");
    expect(await verify()).toMatchObject({ code: 0, out: expect.stringContaining("verified: completed") });
  });

  it("completes a document that only a person can judge", async () => {
    stage({ criteria: [PERSON] }, { acceptance_results: {} });
    expect((await verify()).code).toBe(1);
    await judge("--all", "--status", "passed");
    expect(await verify()).toMatchObject({ code: 0, out: expect.stringContaining("verified: completed") });
  });

  it("does not stand in for what is run", async () => {
    stage({ criteria: [RUN], check: "grep -q goodbye files/text.md\n" });
    const { code, err } = await judge("--item", "AC-1", "--status", "passed");
    expect(err).toContain('"AC-1" is run, not judged');
    expect(code).toBe(2);
    // Written by hand it changes nothing either.
    const row = { id: "AC-1", status: "passed", evidence: "judged", reason: "fine", judged_by: "Ada" };
    put(join(folder, "delivery"), {
      "delivery/result.json": JSON.stringify({
        ...result(),
        status: "completed",
        acceptance_results: { criteria: [row] },
      }),
    });
    expect((await verify()).code).toBe(1);
  });

  it("does not make good what the request never asked: a judgement of one's own proves no work", async () => {
    stage({ criteria: [RUN], check: "test -s files/text.md\n" });
    const row = { item: "it is great", status: "passed", evidence: "judged", note: "truly", judged_by: "Me" };
    put(join(folder, "delivery"), {
      "nutshell.json": readFileSync(join(folder, "delivery/nutshell.json"), "utf8").replace("partial", "completed"),
      "delivery/result.json": JSON.stringify({
        ...result(),
        status: "completed",
        acceptance_results: { checklist: [row] },
      }),
    });
    const { code, out } = await verify();
    expect(out).toContain("nothing is proven that the untouched request would not pass");
    expect(code).toBe(1);
  });

  it("changes a packed delivery in place, and agrees to nothing by that", async () => {
    stage({ criteria: [RUN], checklist: ["it is polite"] });
    const stranger = { XDG_STATE_HOME: join(folder, "stranger") };
    expect((await nutshell(["pack", "--dir", "delivery", "-o", "delivery.nut", "--force"], stranger)).code).toBe(0);
    const words = ["judge", "delivery.nut", "-r", "request", "--all", "--status", "passed", ...ADA];
    const judged = await nutshell(words, {});
    expect(judged).toMatchObject({ code: 0, err: "" });
    const asked = await nutshell(["verify", "delivery.nut", "-r", "request", "--rerun"], {});
    expect(asked.err).toContain("nobody agreed to run it");
    expect(await verify("delivery.nut")).toMatchObject({ code: 0, out: expect.stringContaining("it is polite") });
  });
});
