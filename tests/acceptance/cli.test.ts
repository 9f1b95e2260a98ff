// Long because: accept and verify are tried side by side on one small request and its deliveries, honest and forged.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type PassThrough, Readable, Writable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cleanTreeOf, compareTrees, copyTree, planChecks, writeArtifacts } from "../../src/acceptance/index.js";
import { contentDigest, packFolder } from "../../src/bundle/index.js";
import { main } from "../../src/cli/main.js";
import { program } from "../../src/commands/nutshell/program.js";
import type { Manifest } from "../../src/schema/manifest.js";
import { put } from "./room.js";

let folder: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "nut-accept-cli-"));
  put(folder, { "tmp/.keep": "" });
  await writeRequest();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

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

const ID = "nut-11111111-1111-4111-8111-111111111111";
const CHECKLIST = ["it is polite"];

async function writeRequest(): Promise<void> {
  const manifest: Manifest = {
    nutshell_version: "0.2.0",
    bundle_type: "request",
    id: ID,
    task: { title: "Greet", summary: "say hello" },
    acceptance: { criteria_file: "tests/criteria.json", checklist: CHECKLIST },
  };
  const criteria = [
    {
      id: "AC-1",
      description: "it greets",
      type: "shell",
      script: "tests/greets.sh",
      expected: { stdout_contains: "yes" },
    },
    { id: "AC-2", description: "it is nice", type: "shell", command: "true", auto_verifiable: false },
  ];
  put(join(folder, "request"), {
    "nutshell.json": JSON.stringify(manifest),
    "tests/criteria.json": JSON.stringify({ criteria }),
    "tests/greets.sh": "grep -q hello files/greeting.txt && echo yes\n",
    "files/greeting.txt": "nothing\n",
  });
  await packFolder(join(folder, "request"), { output: join(folder, "request.nut") });
}

interface Forgery {
  readonly greeting?: string;
  readonly status?: string;
  readonly evidence?: string;
  readonly note?: string;
  readonly log?: boolean;
  readonly edit?: (result: Record<string, unknown>) => void;
}

/** A delivery as a harness would write it, unless told otherwise. */
async function writeDelivery(forgery: Forgery = {}): Promise<void> {
  const {
    greeting = "hello\n",
    status = "completed",
    evidence = "proven",
    note = "read it twice",
    log = true,
  } = forgery;
  const [request, work, delivery] = ["request", "work", "delivery"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  copyTree(request, work);
  put(work, { "files/greeting.txt": greeting, "files/more.txt": "more\n" });
  const changes = compareTrees(request, work);
  writeArtifacts(work, delivery, changes);
  const plan = planChecks(request, JSON.parse(readFileSync(join(request, "nutshell.json"), "utf8")));
  const { digests } = cleanTreeOf({ base: request, request, plan, result: work });
  const paths = (kind: string) =>
    changes.filter((row) => row.kind === kind).map(({ path }) => ({ path: `delivery/artifacts/${path}` }));
  const result: Record<string, unknown> = {
    nutshell_version: "0.2.0",
    bundle_type: "delivery",
    request_id: ID,
    parent_id: ID,
    status,
    completion_percentage: 100,
    artifacts: { files_created: paths("created"), files_modified: paths("modified") },
    acceptance_results: {
      criteria: [
        { id: "AC-1", status: "passed", evidence, log: "delivery/logs/AC-1.log" },
        { id: "AC-2", status: "passed", evidence: "judged", reason: "Ada read it and smiled" },
      ],
      checklist: [{ item: CHECKLIST[0], status: "passed", evidence: "judged", note }],
    },
    digests: { ...digests, request: contentDigest(request) },
  };
  forgery.edit?.(result);
  const manifest = {
    nutshell_version: "0.2.0",
    bundle_type: "delivery",
    id: "nut-22222222-2222-4222-8222-222222222222",
    request_id: result.request_id,
    parent_id: ID,
    status,
  };
  put(delivery, {
    "nutshell.json": JSON.stringify(manifest),
    "delivery/result.json": JSON.stringify(result),
    ...(log ? { "delivery/logs/AC-1.log": "yes\n" } : {}),
  });
  await packFolder(delivery, { output: join(folder, "delivery.nut") });
}

describe("credentials of an acceptance", () => {
  it("are recorded by name where the delivery will be packed, and never shown", async () => {
    await nutshell("keygen");
    writeFileSync(join(folder, "value"), "canary-5d1f");
    const made = ["--name", "api", "--type", "bearer_token", "--expires", "2030-01-31", "--value-file", "value"];
    expect((await nutshell("add-credential", ...made, "--dir", "request")).code).toBe(0);
    const criteria = [{ id: "AC-1", type: "shell", command: "env | grep -q canary-5d1f; env", credential_ref: "api" }];
    writeFileSync(join(folder, "request/tests/criteria.json"), JSON.stringify({ criteria }));
    const { out, err } = await nutshell("accept", "request", "--logs", "logs");
    expect(err).toContain('credential "api" is used by the acceptance');
    const log = readFileSync(join(folder, "request/delivery/logs/credentials.jsonl"), "utf8");
    expect(JSON.parse(log.split("\n")[0]!)).toMatchObject({ name: "api", purpose: "acceptance" });
    const written = readdirSync(join(folder, "logs")).map((name) => readFileSync(join(folder, "logs", name), "utf8"));
    for (const text of [out, err, log, ...written]) expect(text).not.toContain("canary-5d1f");
  });

  it("are named in the answer, where only a bundle was opened and there is no folder to write to", async () => {
    await nutshell("keygen");
    writeFileSync(join(folder, "value"), "canary-77aa");
    const made = ["--name", "api", "--type", "bearer_token", "--expires", "2030-01-31", "--value-file", "value"];
    expect((await nutshell("add-credential", ...made, "--dir", "request")).code).toBe(0);
    const command = "env | grep -q canary-77aa && grep -q hello files/greeting.txt";
    const criteria = [{ id: "AC-1", type: "shell", command, credential_ref: "api" }];
    writeFileSync(join(folder, "request/tests/criteria.json"), JSON.stringify({ criteria }));
    await packFolder(join(folder, "request"), { output: join(folder, "request.nut") });
    await writeDelivery();
    const accepted = await nutshell("accept", "delivery.nut", "--request", "request.nut", "--json");
    expect(JSON.parse(accepted.out)).toMatchObject({ verdict: "passed", credentials_used: ["api"] });
    const verified = await nutshell("verify", "delivery.nut", "--request", "request.nut", "--rerun", "--json");
    expect(JSON.parse(verified.out).rerun).toMatchObject({ verdict: "passed", credentials_used: ["api"] });
    for (const { out, err } of [accepted, verified]) expect(out + err).not.toContain("canary-77aa");
  });
});

describe("nutshell accept", () => {
  it("tells what passed and what a person must judge, with JUnit XML for CI", async () => {
    copyTree(join(folder, "request"), join(folder, "work"));
    put(join(folder, "work"), { "files/greeting.txt": "hello\n" });
    const { code, out } = await nutshell(
      "accept",
      "work",
      "--request",
      "request.nut",
      "--junit",
      "report.xml",
      "--logs",
      "logs",
    );
    expect(out).toContain("✓ AC-1 it greets\n? AC-2 it is nice (a person judges this)\n");
    expect(out).toMatch(/incomplete: 1 of 2 checks passed, 1 proven by the work, 1 for a person to judge\n$/);
    // A person still has to judge one: the tool does not say yes for them.
    expect(code).toBe(1);
    expect(readFileSync(join(folder, "report.xml"), "utf8")).toContain(
      '<testcase classname="Greet" name="AC-1: it greets"',
    );
    expect(readFileSync(join(folder, "logs/AC-1.log"), "utf8")).toBe("yes\n");
  });

  it("says yes when everything passed and the work made it pass", async () => {
    const criteria = [{ id: "AC-1", type: "shell", script: "tests/greets.sh" }];
    put(join(folder, "request"), { "tests/criteria.json": JSON.stringify({ criteria }) });
    copyTree(join(folder, "request"), join(folder, "work"));
    put(join(folder, "work"), { "files/greeting.txt": "hello\n" });
    const { code, out } = await nutshell("accept", "work", "--request", "request");
    expect({ code, out }).toEqual({ code: 0, out: "✓ AC-1\npassed: 1 of 1 check passed, 1 proven by the work\n" });
  });

  it("says no, and why, to a request nobody worked on", async () => {
    const { code, out } = await nutshell("accept", "request.nut");
    expect(code).toBe(1);
    expect(out).toContain("✗ AC-1 it greets (exit 1, expected 0)");
  });

  it("does not call the author's own folder changed, whose manifest packing filled in", async () => {
    const own = await nutshell("accept", "request", "-r", "request.nut", "--json");
    expect(JSON.parse(own.out).warnings).toEqual([]);
    const file = join(folder, "request/nutshell.json");
    const manifest = JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(file, JSON.stringify({ ...manifest, acceptance: { checklist: CHECKLIST } }));
    const changed = await nutshell("accept", "request", "-r", "request.nut", "--json");
    expect(JSON.parse(changed.out).warnings).toEqual([expect.stringContaining("put back: nutshell.json")]);
  });

  it("calls nothing proven when there is nothing to compare with", async () => {
    const criteria = [{ id: "AC-3", type: "shell", command: "true" }];
    put(join(folder, "request"), { "tests/criteria.json": JSON.stringify({ criteria }) });
    copyTree(join(folder, "request"), join(folder, "work"));
    const said = "✓ AC-3\npassed: 1 of 1 check passed (not compared with an untouched request)\n";
    expect(await nutshell("accept", "request")).toMatchObject({ code: 0, out: said });
    const { out } = await nutshell("accept", "request", "--json");
    expect(JSON.parse(out)).toMatchObject({ verdict: "passed", compared: false, counts: { passed: 1, proven: 0 } });
    expect(await nutshell("accept", "work", "-r", "request", "--no-baseline")).toMatchObject({ code: 0, out: said });
  });

  it("rebuilds and runs a delivery against its request", async () => {
    await writeDelivery();
    const { out } = await nutshell("accept", "delivery.nut", "-r", "request.nut", "--json");
    expect(JSON.parse(out)).toMatchObject({
      counts: { passed: 1, proven: 1 },
      results: [{ id: "AC-1", status: "passed" }, { id: "AC-2" }],
    });
    expect(await nutshell("accept", "delivery.nut")).toMatchObject({
      code: 2,
      err: expect.stringContaining("checked against its request"),
    });
  });
});

describe("nutshell verify", () => {
  const verify = async (...flags: string[]) => {
    const result = await nutshell("verify", "delivery.nut", "--json", ...flags);
    return { code: result.code, ...JSON.parse(result.out) };
  };

  it("calls a record recorded, and proven only what it ran itself", async () => {
    await writeDelivery();
    const claims = [
      { kind: "criterion", id: "AC-1", status: "passed", evidence: "recorded" },
      { kind: "criterion", id: "AC-2", status: "passed", evidence: "judged" },
      { kind: "checklist", id: "it is polite", status: "passed", evidence: "judged" },
    ];
    expect(await verify("-r", "request.nut")).toMatchObject({ code: 1, verified: false, backed: false, claims });
    expect(await verify("-r", "request.nut", "--allow", "recorded")).toMatchObject({
      code: 0,
      verified: true,
      backed: false,
      allowed: ["recorded"],
      findings: [],
    });
    const again = await verify("-r", "request", "--rerun");
    expect(again).toMatchObject({ code: 0, verified: true, allowed: [], rerun: { counts: { passed: 1, proven: 1 } } });
    expect(again.claims[0]).toMatchObject({ evidence: "proven", rerun: "passed" });
  });

  it("proves nothing by a quick run", async () => {
    await writeDelivery();
    const quick = await verify("-r", "request", "--rerun", "--quick");
    expect(quick).toMatchObject({ code: 1, verified: false, backed: false });
    expect(quick.claims[0]).toMatchObject({ evidence: "recorded", rerun: "passed" });
  });

  it("verifies a delivery that carries no record of its own, by running it", async () => {
    await writeDelivery({
      edit: (r) => {
        const { checklist } = r.acceptance_results as { checklist: unknown };
        r.acceptance_results = {
          checklist,
          criteria: [{ id: "AC-2", status: "passed", evidence: "judged", reason: "read" }],
        };
        r.digests = undefined;
      },
    });
    expect(await verify("-r", "request")).toMatchObject({ code: 1, verified: false });
    expect(await verify("-r", "request", "--rerun")).toMatchObject({ code: 0, verified: true, backed: true });
  });

  it("asks a person's criteria of a person, whatever the delivery says", async () => {
    await writeDelivery({
      edit: (r) => {
        (r.acceptance_results as { criteria: object[] }).criteria[1] = {
          id: "AC-2",
          status: "passed",
          evidence: "proven",
        };
      },
    });
    const said = await verify("-r", "request", "--rerun");
    expect(said).toMatchObject({ code: 1, verified: false });
    expect(said.gaps.join()).toContain("AC-2 is said");
  });

  it.each([
    ["delivery/artifacts/files/extra.sh", "ARTIFACT_UNLISTED"],
    ["delivery/artifacts/files/__pycache__/x.pyc", "ARTIFACT_UNTESTED"],
    ["delivery/artifacts/CLAUDE.md", "ARTIFACT_UNLISTED"],
    ["delivery/artifacts/acceptance/hidden.age", "ARTIFACT_UNTESTED"],
  ])("sees %s, which came along untested", async (path, code) => {
    await writeDelivery();
    put(join(folder, "delivery"), { [path]: "surprise\n" });
    await packFolder(join(folder, "delivery"), { output: join(folder, "delivery.nut") });
    const said = await verify("-r", "request", "--rerun");
    expect(said).toMatchObject({ code: 1, verified: false });
    expect(said.findings).toContainEqual(expect.objectContaining({ code, path, severity: "error" }));
  });

  it("refutes a lie by running it", async () => {
    await writeDelivery({ greeting: "nothing at all\n" });
    const said = await verify("-r", "request.nut", "--rerun");
    expect(said).toMatchObject({ code: 1, verified: false, backed: false });
    expect(said.findings).toMatchObject([{ code: "CLAIM_REFUTED", path: "AC-1" }]);
  });

  it.each<[string, Forgery, string]>([
    ["an agent's word", { evidence: "said" }, "AC-1 is said, not proven: no evidence is given"],
    ["a missing log", { log: false }, "AC-1 is said, not proven: the log of the run is missing"],
    ["a judgement without a reason", { note: "" }, '"it is polite" is only said'],
    [
      "a criterion left out",
      {
        edit: (r) => {
          r.acceptance_results = { criteria: [] };
        },
      },
      "AC-1 is not answered",
    ],
    [
      "a test that proves nothing",
      {
        edit: (r) => {
          (r.acceptance_results as { criteria: { proves_nothing?: boolean }[] }).criteria[0]!.proves_nothing = true;
        },
      },
      "AC-1 is recorded, not proven: not run here",
    ],
  ])("does not take %s for completed", async (_, forgery, gap) => {
    await writeDelivery(forgery);
    const said = await verify("-r", "request.nut");
    expect(said).toMatchObject({ code: 1, verified: false, backed: false });
    expect(said.gaps).toContain(gap);
  });

  it("takes partial work only when that is allowed, and only as far as its claims hold", async () => {
    await writeDelivery({ status: "partial" });
    expect(await verify("-r", "request", "--rerun")).toMatchObject({ code: 1, verified: false, status: "partial" });
    expect(await verify("-r", "request", "--rerun", "--allow", "partial")).toMatchObject({
      code: 0,
      verified: true,
      allowed: ["partial"],
    });
    await writeDelivery({ status: "failed" });
    expect(await verify("-r", "request", "--rerun", "--allow", "partial")).toMatchObject({ code: 1, verified: false });
  });

  it.each<[string, Forgery, string, string]>([
    [
      "another result",
      {
        edit: (r) => {
          (r.digests as { result: string }).result = `sha256:${"0".repeat(64)}`;
        },
      },
      "DIGEST_MISMATCH",
      "digests.result",
    ],
    [
      "other tests",
      {
        edit: (r) => {
          (r.digests as { tests: string }).tests = `sha256:${"0".repeat(64)}`;
        },
      },
      "DIGEST_MISMATCH",
      "digests.tests",
    ],
    [
      "another request",
      {
        edit: (r) => {
          r.request_id = "nut-other";
        },
      },
      "REQUEST_MISMATCH",
      "request_id",
    ],
    [
      "a file that is not there",
      {
        edit: (r) => {
          r.artifacts = { files_created: [{ path: "delivery/artifacts/ghost.txt" }] };
        },
      },
      "ARTIFACT_MISSING",
      "delivery/artifacts/ghost.txt",
    ],
  ])("sees that a delivery names %s", async (_, forgery, code, path) => {
    await writeDelivery(forgery);
    const said = await verify("-r", "request.nut");
    expect(said).toMatchObject({ code: 1, verified: false });
    expect(said.findings).toContainEqual(expect.objectContaining({ code, path, severity: "error" }));
  });

  it("says no to a damaged bundle", async () => {
    await writeDelivery();
    const bytes = readFileSync(join(folder, "delivery.nut"));
    bytes[bytes.length - 20]! ^= 0xff;
    writeFileSync(join(folder, "delivery.nut"), bytes);
    expect(await verify()).toMatchObject({ code: 1, verified: false, status: null });
  });

  it("needs a request to run again, and a delivery to verify", async () => {
    await writeDelivery();
    expect(await nutshell("verify", "delivery.nut", "--rerun")).toMatchObject({
      code: 2,
      err: expect.stringContaining("--rerun needs the request"),
    });
    expect(await nutshell("verify", "request.nut")).toMatchObject({
      code: 2,
      err: expect.stringContaining("is a request, not a delivery"),
    });
  });
});
