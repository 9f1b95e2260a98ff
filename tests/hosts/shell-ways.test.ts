// Promise 6 with real shells: every way to write, under a role that may not. With the sandbox nothing changes; without it
// everything is found and put back.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { callerStanding, gate } from "../../src/events/index.js";
import { claude } from "../../src/hosts/claude/host.js";
import { bwrapAvailable, findProgram } from "../../src/process/index.js";
import { mayEdit } from "../../src/schema/roles.js";
import { gateFacts } from "../../src/session/gate-facts.js";
import { claudePayload, hostFace, newProject, runHook } from "./hook-process.js";
import { WAYS as ALL } from "./shell-ways.js";

/** Ways whose programs are here; all of them on a machine set up by scripts/setup.mjs. */
const MISSING = ["python3", "perl", "patch", "make", "awk"].filter((name) => findProgram(name, process.env) === null);
const WAYS = ALL.filter((way) => !MISSING.some((name) => way.startsWith(name)));

let root: string;

beforeEach(() => {
  ({ root } = newProject({
    "script.py": "open('by-script','w').write('x')\n",
    "script.cjs": "require('fs').writeFileSync('by-node','x')\n",
    "script.sh": "touch by-shell\n",
    Makefile: "all:\n\ttouch by-make\n",
    "change.patch": "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-hello\n+patched\n",
  }));
  rmSync(join(root, ".git"), { recursive: true });
  restore();
  sh(
    "git init -q && git add a.txt b.txt sub && git -c user.name=x -c user.email=x@x commit -q -m x && tar cf data.tar -C sub inner.txt",
  );
});

const sh = (command: string) =>
  spawnSync("/bin/bash", ["-c", command], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: join(root, "../home") },
    timeout: 20_000,
    encoding: "utf8",
  });

function restore(): void {
  mkdirSync(join(root, "sub"), { recursive: true });
  writeFileSync(join(root, "a.txt"), "hello\n");
  writeFileSync(join(root, "b.txt"), "b\n");
  writeFileSync(join(root, "sub/inner.txt"), "inner\n");
}

function tree(): string {
  const hash = createHash("sha256");
  for (const name of readdirSync(root, { recursive: true, encoding: "utf8" }).sort()) {
    if (/^\.(?:git|nexus)(?:\/|$)/.test(name)) continue;
    const stat = lstatSync(join(root, name));
    const content = stat.isFile()
      ? readFileSync(join(root, name))
      : stat.isSymbolicLink()
        ? readlinkSync(join(root, name))
        : stat.isFIFO()
          ? "fifo"
          : "";
    hash.update(`${name} ${(stat.mode & 0o111) !== 0}\0`).update(content);
  }
  return hash.digest("hex");
}

const facts = () => gateFacts({ cwd: root, env: { HOME: join(root, "../home") }, host: hostFace(claude) });
const start = (env: Record<string, string> = {}) =>
  runHook(claudePayload(root, "SessionStart", { source: "startup" }), { event: "SessionStart", env });

describe("every way to write from a shell, under a role that may not", () => {
  it("changes nothing where the sandbox works", { timeout: 180_000 }, async ({ skip }) => {
    if (!(await bwrapAvailable(process.env))) skip("bwrap is missing or not allowed");
    await start();
    const before = tree();
    const known = await facts();
    let refused = 0;
    for (const command of WAYS) {
      const tool = claude.toolUse("Bash", { command });
      const decision = gate(
        { type: "pre_tool_use", sessionId: "s", cwd: root, caller: { agentId: "a", agentName: "tester" }, tool },
        known,
      );
      if (decision.outcome === "deny") refused += 1;
      else {
        expect(decision.rewrite, command).not.toBeNull();
        sh(decision.rewrite!);
      }
      expect(tree(), command).toBe(before);
    }
    // What a reader of command lines cannot see: scripts and builds.
    expect(WAYS.length - refused).toBeLessThanOrEqual(5);
    // The sandbox alone holds, even for what was refused.
    const sandbox = known.sandbox!;
    // Nor does a daemon write for it: src/process/daemon-places.test.ts.
    expect(sandbox.join(" ")).toContain("--tmpfs /run ");
    for (const command of WAYS) {
      spawnSync(sandbox[0]!, [...sandbox.slice(1), command], {
        cwd: root,
        env: { PATH: process.env.PATH },
        timeout: 20_000,
      });
    }
    expect(tree()).toBe(before);
  });

  it("is found and put back where nothing stopped it", async () => {
    await start({ NEXUS_SANDBOX: "off" });
    expect(mayEdit(callerStanding({ agentName: "tester" }, await facts()))).toBe(false);
    const before = tree();
    const missed: string[] = [];
    // In groups, so that one way does not hide another.
    for (let i = 0; i < WAYS.length; i += 12) {
      const id = `agent-${i}`;
      await runHook(claudePayload(root, "SubagentStart", { agent_id: id, agent_type: "tester" }), {
        event: "SubagentStart",
      });
      for (const command of WAYS.slice(i, i + 12)) {
        sh(command);
        if (tree() === before && command !== "git checkout -q -- a.txt") missed.push(command);
      }
      const { stdout } = await runHook(
        claudePayload(root, "SubagentStop", { agent_id: id, agent_type: "tester", last_assistant_message: "x" }),
        { event: "SubagentStop" },
      );
      expect(stdout).toContain("put back");
      expect(tree()).toBe(before);
    }
    // Every way really writes; otherwise the first test proves nothing.
    expect(missed).toEqual([]);
  });
});
