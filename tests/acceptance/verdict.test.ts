// What an acceptance run comes to: the verdict, what counts as proven, and what the tree under test is made of.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { planChecks, testsDigest } from "../../src/acceptance/index.js";
import { type Bench, bench, put } from "./room.js";

let open: Bench[] = [];
afterEach(() => {
  for (const { remove } of open) remove();
  open = [];
});
const make = (...args: Parameters<typeof bench>): Bench => {
  const made = bench(...args);
  open.push(made);
  return made;
};

const greets = { id: "greets", type: "shell", command: "grep -q hello files/greeting.txt" };
const always = { id: "always", type: "shell", command: "true" };
const never = { id: "never", type: "shell", command: "false" };
const person = { id: "person", type: "shell", command: "true", auto_verifiable: false };
const strange = { id: "strange", type: "telepathy" };
const unknown = { ...greets, id: "unknown", expected: { stdout: "hello" } };
const FILES = { "files/greeting.txt": "nothing\n" };
const WORK = { "files/greeting.txt": "hello\n" };

describe("the verdict", () => {
  it.each([
    ["passed", [greets], { passed: 1, proven: 1 }],
    ["passed", [greets, always], { passed: 2, proven: 1 }],
    ["failed", [greets, never], { passed: 1, failed: 1 }],
    ["failed", [never, person], { failed: 1, unknown: 1 }],
    ["incomplete", [greets, person], { passed: 1, unknown: 1 }],
    ["incomplete", [greets, strange], { passed: 1, skipped: 1 }],
    ["incomplete", [greets, unknown], { passed: 1, skipped: 1 }],
    ["incomplete", [always], { passed: 1, proven: 0 }],
    ["incomplete", [], { passed: 0 }],
  ] as const)("is %s for %j", async (verdict, criteria, counts) => {
    expect(await make(criteria, FILES, WORK).accept()).toMatchObject({ verdict, counts, compared: true });
  });

  it.each([
    ["a refactoring: guards that hold", [always], WORK, true, []],
    ["a document: nothing can be run", [], WORK, true, []],
    ["a person's criterion beside a proven one", [greets, person], WORK, true, ["person"]],
    ["a person's criterion alone", [person], WORK, true, ["person"]],
    ["what is proven already", [greets], WORK, false, []],
    ["what failed", [never, person], WORK, false, ["person"]],
    ["what could not be run", [always, strange], WORK, false, []],
    ["work that was never done", [always], {}, false, []],
  ] as const)("says whether only a judgement is missing: %s", async (_, criteria, work, awaitsJudgement, forPerson) => {
    expect(await make(criteria, FILES, work).accept()).toMatchObject({ awaitsJudgement, forPerson });
  });

  it("asks nobody what a person judges", async () => {
    const { accept, folder } = make([{ ...person, command: "touch ran" }], FILES, WORK);
    const { results } = await accept({ sandbox: "off" });
    expect(results).toMatchObject([{ status: "unknown", reason: "a person judges this" }]);
    expect(results[0]).not.toHaveProperty("evidence");
    expect(existsSync(join(folder, "ran"))).toBe(false);
  });
});

describe("proving", () => {
  it("takes a tree that changed: on an untouched one everything proves nothing", async () => {
    const { accept } = make([always, greets], { "files/greeting.txt": "hello\n" }, {});
    expect(await accept()).toMatchObject({
      verdict: "incomplete",
      counts: { passed: 2, proven: 0 },
      results: [{ proves_nothing: true }, { proves_nothing: true }],
    });
  });

  it("takes more than a change of the tests", async () => {
    const { accept } = make([always], FILES, { "tests/extra.sh": "exit 0\n" });
    expect(await accept()).toMatchObject({ counts: { proven: 0 }, results: [{ proves_nothing: true }] });
  });

  it("takes a comparison: without one nothing is called proven", async () => {
    const { accept } = make([greets], FILES, WORK);
    expect(await accept({ baseline: false })).toMatchObject({
      verdict: "passed",
      compared: false,
      counts: { passed: 1, proven: 0 },
    });
  });

  it("runs the criteria that are named, and no other", async () => {
    const { accept } = make([greets, never], FILES, WORK);
    expect(await accept({ only: ["greets"] })).toMatchObject({ verdict: "passed", results: [{ id: "greets" }] });
  });
});

describe("the tree under test", () => {
  it("is told apart by digest, file by file, and the tests by theirs", async () => {
    const one = make([greets], FILES, WORK);
    const two = make([greets], FILES, { ...WORK, "files/more.txt": "" });
    const [a, b, again] = [await one.accept(), await two.accept(), await one.accept()];
    expect(a.digests).toEqual(again.digests);
    expect(a.digests.result).not.toBe(b.digests.result);
    expect(a.digests.tests).toBe(b.digests.tests);
    const plan = planChecks(one.request, one.manifest);
    expect(testsDigest(one.request, plan)).toBe(a.digests.tests);
    writeFileSync(join(one.request, "tests/extra.sh"), "exit 0\n");
    expect(testsDigest(one.request, plan)).not.toBe(a.digests.tests);
  });

  it("does not depend on what packing computes in the manifest", async () => {
    const { accept, request, result } = make([greets], FILES, WORK);
    const before = await accept();
    for (const folder of [request, result]) {
      const manifest = JSON.parse(readFileSync(join(folder, "nutshell.json"), "utf8"));
      writeFileSync(join(folder, "nutshell.json"), JSON.stringify({ ...manifest, files: { total_count: 3 } }));
    }
    expect((await accept()).digests).toEqual(before.digests);
  });

  it("has the request's own tests, wherever they stand, whatever the result put there", async () => {
    const criterion = { id: "own", type: "shell", script: "files/check.sh" };
    const { accept, result } = make(
      [criterion],
      { "files/check.sh": "exit 1\n", ...FILES },
      { "files/check.sh": "exit 0\n", ...WORK },
    );
    expect(await accept()).toMatchObject({ verdict: "failed" });
    rmSync(join(result, "files/check.sh"));
    const report = await accept();
    expect(report).toMatchObject({ verdict: "failed", results: [{ reason: "exit 1, expected 0" }] });
    expect(report.warnings.join()).toContain("own tests were changed and put back: files/check.sh");
  });

  it("brings the request's tests into a repository, over its own of that name", async () => {
    const { accept } = make([{ id: "own", type: "shell", script: "tests/own.sh" }], { "tests/own.sh": "exit 1\n" }, {});
    const repository = make([], { "tests/own.sh": "exit 0\n", "src/a": "1" }, { "src/a": "2" });
    expect(await accept({ base: repository.request, result: repository.result })).toMatchObject({ verdict: "failed" });
  });

  it("is run with nothing of the caller's environment but what programs need", async () => {
    const { accept } = make([{ id: "env", type: "shell", command: "env" }], {}, WORK);
    const { results } = await accept({ env: { ...process.env, AWS_SECRET_ACCESS_KEY: "canary", HOME: "/root" } });
    expect(results[0]?.output).not.toContain("canary");
    // Nothing tells a room from a desk.
    expect(results[0]?.output).not.toMatch(/^(?:CI|NUT_CHILD|PYTHONPATH)=/m);
    expect(results[0]?.output).not.toMatch(/^HOME=\/root$/m);
  });
});

describe("credentials of checks", () => {
  const api = { type: "bearer_token", value: "s3cret", env: { API: "s3cret" } };
  const named = { id: "named", type: "shell", command: 'test "$API" = s3cret', credential_ref: "api" };

  it("reach the check that names them, and are asked for by name", async () => {
    const asked: string[] = [];
    const { accept } = make([named, { ...greets, command: 'test -z "$API"' }], FILES, WORK);
    const report = await accept({
      baseline: false,
      credentials: async (name) => {
        asked.push(name);
        return api;
      },
    });
    expect(report).toMatchObject({ counts: { passed: 2 } });
    expect(asked).toEqual(["api"]);
  });

  it("that cannot be opened skip their check", async () => {
    const { outcomes } = make([named], FILES, WORK);
    const skipped = { named: 'skipped: credential "api" could not be opened' };
    expect(await outcomes({ credentials: async () => null })).toEqual(skipped);
    expect(await outcomes()).toEqual(skipped);
  });

  it("are taken out of reasons and output", async () => {
    const { accept } = make([{ ...named, command: "echo $API; exit 3" }], FILES, WORK);
    const { results } = await accept({
      credentials: async () => api,
      scrub: (text) => text.replaceAll("s3cret", "***"),
    });
    expect(results).toMatchObject([{ status: "failed", output: "***\n" }]);
  });
});

describe("a check that a signal ends", () => {
  it("has failed, in a sandbox or out of one", async () => {
    const { outcomes } = make([{ id: "signal", type: "custom", command: "kill -9 $$" }], FILES, WORK);
    for (const sandbox of ["auto", "off"] as const) {
      expect(await outcomes({ sandbox })).toEqual({ signal: "failed: exit 137, expected 0" });
    }
  });
});

describe("criteria", () => {
  it("that the manifest names must be there, whole and told apart", () => {
    const { request, manifest } = make([greets], FILES, {});
    const plan = (more: Record<string, unknown>) => planChecks(request, { ...manifest, acceptance: more });
    expect(() => plan({ criteria_file: "tests/none.json" })).toThrow(/not in the request/);
    expect(() => plan({ criteria_file: "../x.json" })).toThrow(/not in the request/);
    put(request, { "tests/criteria.json": '{"criteria":[{"id":7}]}' });
    expect(() => plan({})).toThrow(/criteria\.0\.id/);
    rmSync(join(request, "tests/criteria.json"));
    expect(plan({}).checks).toEqual([]);
    expect(
      plan({ test_scripts: ["tests/test_a.py", "tests/a.test.js", "tests/a_test.go", "tests/a.sh"] }).checks,
    ).toMatchObject(["pytest", "jest", "go-test", "shell"].map((kind) => ({ kind, automatic: true })));
  });

  it("may be for a person all together, or one by one", () => {
    const { request, manifest } = make([greets, { ...always, auto_verifiable: true }], FILES, {});
    const { checks } = planChecks(request, { ...manifest, acceptance: { auto_verifiable: false } });
    expect(checks.map(({ automatic }) => automatic)).toEqual([false, true]);
  });

  it("stop being run when somebody stops the acceptance", async () => {
    const { accept } = make([greets], FILES, WORK);
    await expect(accept({ signal: AbortSignal.abort("SIGINT") })).rejects.toBe("SIGINT");
  });
});
