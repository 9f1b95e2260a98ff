// Going on with a run believes nothing that only a record says.
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findProgram } from "../../src/process/index.js";
import { lineOf } from "../../src/run/record/journal-reader.js";
import type { JournalRecord } from "../../src/schema/journal.js";
import { here } from "./here.js";
import { call, environment } from "./program.js";
import { type Agent, helloRequest, put, scratch, sweep, type World, world } from "./scripted.js";

let root: string;
beforeEach(() => {
  root = scratch();
});
afterEach(sweep);

const approve = "VERDICT: pass\n- [passed] 1: files/hello.txt says so";
const honest: Agent = ({ role, cwd }) => {
  if (role === "engineer") put(cwd, { "files/hello.txt": "hello world\n" });
  return role === "reviewer" ? approve : "RESULT: done";
};
const idle: Agent = ({ role }) => (role === "reviewer" ? approve : "RESULT: done");

/** Writes a journal whose sums are right, as whoever forges one would. */
function rewrite({ folder, journal }: World, change: (record: JournalRecord) => JournalRecord | null): void {
  let sum = "";
  const lines = journal().flatMap((record) => {
    const changed = change(record);
    if (changed === null) return [];
    const next = lineOf(changed, sum);
    sum = next.sum;
    return [next.line];
  });
  writeFileSync(folder.journal, lines.join(""));
}

const ends = (type: string) => type === "delivered" || type === "closed";
const accepted = (w: World) => w.journal().filter(({ type }) => type === "accepted").length;

describe("resume", () => {
  it("runs the acceptance again, whatever the journal says of it", async () => {
    helloRequest(root);
    const plan = join(root, "plan.json");
    writeFileSync(plan, JSON.stringify({ tasks: [{ title: "greet", criteria: [] }] }));
    const w = await world({ root, agent: idle, options: { yes: true, plan } });
    expect((await w.go()).delivery?.result.status).toBe("failed");
    const rosy = { verdict: "passed" as const, counts: { passed: 1, failed: 0, skipped: 0, unknown: 0, proven: 1 } };
    rewrite(w, (record) => {
      if (record.type !== "accepted") return ends(record.type) ? null : record;
      const results = record.report.results.map((row) => ({
        ...row,
        status: "passed" as const,
        evidence: "proven" as const,
      }));
      return { ...record, report: { ...record.report, ...rosy, results } };
    });
    rmSync(join(root, "delivery.nut"));
    const before = accepted(w);
    const { delivery } = await w.go();
    expect(delivery?.result.status).toBe("failed");
    expect(accepted(w)).toBeGreaterThan(before);
  });

  it("runs it before it believes a delivery that a killed process recorded", async () => {
    helloRequest(root);
    const w = await world({ root, agent: honest });
    await w.go();
    rewrite(w, (record) => (record.type === "closed" ? null : record));
    const [before, bytes] = [accepted(w), readFileSync(join(root, "delivery.nut"))];
    expect((await w.go()).delivery?.result.status).toBe("completed");
    expect(accepted(w)).toBe(before + 1);
    // What was delivered is what the acceptance found, so it stays.
    expect(readFileSync(join(root, "delivery.nut")).equals(bytes)).toBe(true);

    rewrite(w, (record) => (record.type === "closed" ? null : record));
    rmSync(join(root, "delivery.nut"));
    expect((await w.go()).delivery?.result.status).toBe("completed");
    expect(existsSync(join(root, "delivery.nut"))).toBe(true);
  });

  it("delivers again when the recorded delivery is another", async () => {
    helloRequest(root);
    const w = await world({ root, agent: honest });
    const first = (await w.go()).delivery!;
    rewrite(w, (record) => (record.type === "closed" ? null : record));
    writeFileSync(first.path, "something else");
    const again = (await w.go()).delivery!;
    expect(again.result.status).toBe("completed");
    expect(w.journal().filter(({ type }) => type === "delivered")).toHaveLength(2);
  });

  it("of a finished run tells what it recorded, and is no yes", async () => {
    helloRequest(root);
    const w = await world({ root, agent: honest, options: { driver: "command", command: "true" } });
    await w.go();
    const told = await here("nexus", join(root, "project"), ["resume", "r1"]);
    expect(told.status, told.stderr).toBe(1);
    expect(told.stdout).toContain("this run was finished before; nothing was run now");
    expect(told.stdout).toContain("check it: nutshell verify");
  });
});

/** PATH with all a run needs but bubblewrap. */
function withoutSandbox(place: string): string {
  const folder = join(place, "bin");
  mkdirSync(folder);
  for (const name of ["sh", "node", "cat", "touch", "git", "echo"]) {
    symlinkSync(findProgram(name, process.env)!, join(folder, name));
  }
  return folder;
}

describe("a run that was not started here", () => {
  it("goes on only when somebody agrees", async () => {
    helloRequest(root);
    const project = join(root, "project");
    const stop = new AbortController();
    const stopped: Agent = () => {
      stop.abort("SIGTERM");
      return new Promise(() => {});
    };
    const mark = join(root, "mark");
    const command = `touch ${mark}; echo no`;
    // Whoever brought it also says that no sandbox is wanted and that nothing need be asked.
    const options = { driver: "command", command, no_sandbox: true, yes: true };
    const w = await world({ root, agent: stopped, signal: stop.signal, options });
    await expect(w.go()).rejects.toThrow("interrupted");
    const env = environment(root, { NUTCRACKER_CONSENT: "" });
    const refused = await here("nexus", project, ["resume"], env);
    expect(refused.status, refused.stderr).toBe(2);
    expect(refused.stderr).toMatch(/run r1 was not started by you here, and nobody agreed/);
    expect(refused.stderr).toContain("hint: nexus resume r1 --yes");
    expect(existsSync(mark)).toBe(false);
    const bare = { ...env, PATH: withoutSandbox(root) };
    const unheld = call("nexus", project, ["resume", "--yes"], bare);
    expect(unheld.stderr).toContain("run r1 was not made here, and there is no sandbox to run it in");
    expect(existsSync(mark)).toBe(false);
    expect(call("nexus", project, ["resume", "--yes"], env).stderr).not.toContain("nobody agreed");
    expect(existsSync(mark)).toBe(false);
  });

  it("says what it starts in lines of ours alone", async () => {
    helloRequest(root);
    const stop = new AbortController();
    const stopped: Agent = () => {
      stop.abort("SIGTERM");
      return new Promise(() => {});
    };
    const options = { driver: "command", command: "echo no\n  starts: demo\r\n\u2028  request: nothing" };
    const w = await world({ root, agent: stopped, signal: stop.signal, options });
    await expect(w.go()).rejects.toThrow("interrupted");
    const env = environment(root, { NUTCRACKER_CONSENT: "" });
    const { stderr } = await here("nexus", join(root, "project"), ["resume", "--json"], env);
    const lines = (JSON.parse(stderr).error.data.question as string).split(/[\r\n\u2028]/);
    expect(lines.map((line) => line.trim().split(" ")[0])).toEqual(["Run", "starts:", "request:", "writes:", "Go"]);
  });

  it("is one that nexus run noted nowhere", async () => {
    helloRequest(root);
    const project = join(root, "project");
    put(project, { "README.md": "x" });
    const env = environment(root, { NUTCRACKER_CONSENT: "" });
    const agent = ["--driver", "command", "--command", "echo RESULT: done", "--plan", "default"];
    const paused = await here(
      "nexus",
      project,
      ["run", join(root, "request"), ...agent, "--quick", "--trials", "1"],
      env,
    );
    expect(paused.stdout + paused.stderr).toContain("paused");
    const resumed = await here("nexus", project, ["resume", "--deliver"], env);
    expect(resumed.stderr).not.toContain("nobody agreed");
    expect(resumed.stdout).toContain("delivery");
  });
});
