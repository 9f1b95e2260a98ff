// The gate by itself: no disk, no host. What a real hook process makes of it is in tests/hosts.
import { describe, expect, it } from "vitest";
import { roleLimits } from "../catalog/catalog.js";
import { loadCatalog } from "../catalog/index.js";
import type { Caller, ToolUse } from "../schema/events.js";
import type { GateFacts } from "./facts.js";
import { callerStanding, gate } from "./gate.js";
import { MAX_SHELL_CHARS } from "./shell-writes.js";

const limits = roleLimits(await loadCatalog());
const root = "/p";
const facts = (over: Partial<GateFacts> = {}): GateFacts => ({
  root,
  tasksExist: true,
  limits,
  tracked: {},
  processRole: null,
  activeSkill: null,
  settings: [".claude/", "opencode.json", "~/.codex/"],
  loss: () => null,
  linked: [],
  sandbox: null,
  sandboxMayFail: false,
  places: (path) => [
    path.startsWith("~/") ? `/home/me${path.slice(1)}` : path.startsWith("/") ? path : `${root}/${path}`,
  ],
  home: "/home/me",
  textOf: () => null,
  ...over,
});

const LEAD: Caller = {};
const as = (role: string): Caller => ({ agentId: "a1", agentName: role });
const use = (over: Partial<ToolUse>): ToolUse => ({ name: "T", access: "other", classes: [], paths: [], ...over });
const write = (...paths: string[]) => use({ access: "edit", classes: ["file_creation"], paths });
const bash = (command?: string) =>
  use({ access: "shell", classes: ["shell_command_exec"], ...(command === undefined ? {} : { command }) });
const decide = (caller: Caller, tool: ToolUse, over: Partial<GateFacts> = {}) =>
  gate({ type: "pre_tool_use", sessionId: "s", cwd: root, caller, tool }, facts(over));
const denial = (...given: Parameters<typeof decide>) => decide(...given).reason;

describe("who asks [P6]", () => {
  it("is held to its claim, its record and the role of its process, all of them", () => {
    const known = facts({ tracked: { a1: "tester" }, processRole: "architect" });
    expect(callerStanding({ agentId: "a1", agentName: "engineer" }, known).roles).toEqual([
      "engineer",
      "tester",
      "architect",
    ]);
    expect(denial({ agentId: "a1", agentName: "engineer" }, write("a"), { tracked: { a1: "tester" } })).toContain(
      "tester",
    );
    expect(denial(LEAD, write("a"), { processRole: "reviewer" })).toContain("reviewer");
  });

  it("is held to the limits of everybody at work where nobody says who calls", () => {
    expect(denial({ agentId: "a1", agentName: "engineer", beside: ["tester"] }, write("a"))).toContain("tester role");
    expect(denial({ agentId: "a1", agentName: "engineer", beside: ["engineer"] }, write("a"))).toBeNull();
  });

  it("has no record under a name every object has", () => {
    expect(callerStanding({ agentId: "constructor" }, facts()).kind).toBe("unknown");
    expect(callerStanding({ agentId: "__proto__" }, facts()).kind).toBe("unknown");
  });

  it("may read, whoever it is", () => {
    for (const caller of [LEAD, as("tester"), { agentId: "nobody" }])
      expect(denial(caller, use({ access: "read" }))).toBeNull();
  });

  it("cannot use a tool without a name", () => {
    expect(denial(LEAD, use({ name: "", access: "read" }))).toContain("without a tool name");
  });
});

describe("agents and tools nobody knows", () => {
  it("are started by Lead and by the host's own helpers only", () => {
    expect(denial(LEAD, use({ access: "spawn" }))).toBeNull();
    expect(denial(as("general-purpose"), use({ access: "spawn" }))).toBeNull();
    expect(denial(as("engineer"), use({ access: "spawn" }))).toContain("may not start agents");
    expect(denial({ agentId: "x" }, use({ access: "spawn" }))).toContain("may not start agents");
  });

  it("may change anything, so they are for those who may", () => {
    expect(denial(as("engineer"), use({}))).toBeNull();
    expect(denial(as("tester"), use({}))).toContain("nothing is known");
    expect(denial({ agentId: "x" }, use({}))).toContain("nothing is known");
  });

  it("includes our own server's tools of a later version", () => {
    expect(denial(LEAD, use({ access: "nexus" }))).toContain("none of the Nexus tools");
  });
});

describe("Nexus tools", () => {
  const call = (nexusTool: NonNullable<ToolUse["nexusTool"]>) => use({ name: "nx", access: "nexus", nexusTool });

  it("say why not", () => {
    expect(denial(as("engineer"), call("plan_decide"))).toBe("only Lead may call nx; report to Lead instead");
    expect(denial(as("engineer"), call("task_add"))).toBe("the engineer role may not call nx; report to Lead instead");
    expect(denial({ agentId: "x" }, call("task_update"))).toContain("never announced");
    expect(denial(as("engineer"), call("task_update"))).toBeNull();
  });
});

describe("edits", () => {
  it("need a role that may, a path, and a task list", () => {
    expect(denial(as("engineer"), write("a"))).toBeNull();
    expect(denial(as("tester"), write("a"))).toContain("may not change files");
    expect(denial({ agentId: "x" }, write("a"))).toContain("never announced");
    expect(denial(LEAD, write())).toContain("which file");
    expect(denial(LEAD, write("a"), { tasksExist: false })).toContain("no task list");
    expect(denial(as("general-purpose"), write("a"))).toBeNull();
  });

  it("leave state and settings to Lead", () => {
    for (const path of [
      ".nexus/state/tasks.json",
      ".NEXUS/State/x",
      ".nexus/config.yml",
      ".claude/x",
      "opencode.json",
      "~/.codex/y",
    ]) {
      expect(denial(as("engineer"), write("a", path)), path).toContain("off limits");
      expect(denial(as("general-purpose"), write(path)), path).toContain("off limits");
      expect(denial(LEAD, write(path)), path).toBeNull();
    }
    expect(denial(as("engineer"), write(".claudex", ".nexus/statement", "~/codex"))).toBeNull();
  });

  it("of knowledge need no task; one file among others does", () => {
    const none = { tasksExist: false };
    expect(denial(LEAD, write(".nexus/memory/a.md", ".nexus/rules/b.md", "/elsewhere/c"), none)).toBeNull();
    expect(denial(LEAD, write(".nexus/memory/a.md", "a"), none)).toContain("no task list");
    expect(denial(LEAD, write(".nexus/memory/"), none)).toContain("no task list");
    const leaving = { ...none, places: () => [`${root}/.nexus/memory/a`, `${root}/src/a`] };
    expect(denial(LEAD, write(".nexus/memory/a"), leaving)).toContain("no task list");
    const coming = { ...none, places: () => ["/elsewhere/a", `${root}/src/a`] };
    expect(denial(LEAD, write("/elsewhere/a"), coming)).toContain("no task list");
  });

  it("of the marked part are the set-up skills' own", () => {
    const before = "mine\n<!-- nexus:start -->\nold\n<!-- nexus:end -->\n";
    const edit = (from: string, to: string): ToolUse => ({
      ...write("CLAUDE.md"),
      change: { kind: "replace", steps: [{ from, to, all: false }] },
    });
    const at = (activeSkill: string | null) => ({ tasksExist: false, activeSkill, textOf: () => before });
    expect(denial(LEAD, edit("old", "new"), at("nx-init"))).toBeNull();
    expect(denial(LEAD, edit("old", "new"), at("nx-setup"))).toBeNull();
    expect(denial(LEAD, edit("old", "new"), at("nx-plan"))).not.toBeNull();
    expect(denial(LEAD, edit("mine", "ours"), at("nx-init"))).not.toBeNull();
    expect(denial(LEAD, edit("not there", "x"), at("nx-init"))).not.toBeNull();
    expect(denial(LEAD, { ...edit("old", "new"), paths: ["README.md"] }, at("nx-init"))).not.toBeNull();
    expect(denial(LEAD, write("CLAUDE.md"), at("nx-init"))).not.toBeNull();
  });
});

describe("commands", () => {
  it("must be there, and be allowed", () => {
    expect(denial(LEAD, bash())).toContain("without a command");
    const noShell = { limits: { ...limits, engineer: ["shell_command_exec" as const] } };
    expect(denial(as("engineer"), bash("ls"), noShell)).toContain("may not run commands");
  });

  it("write only for those who may", () => {
    expect(denial(as("tester"), bash("rm a"))).toBe(
      "the tester role may not change files, and this command would (rm); describe the change to Lead instead",
    );
    expect(denial(as("tester"), bash("git pull"))).toContain("git pull");
    expect(denial({ agentId: "x" }, bash("rm a"))).toContain("never announced");
    expect(denial({ agentId: "x" }, bash("ls"))).toBeNull();
    expect(denial(as("engineer"), bash("rm a"))).toBeNull();
    expect(denial(as("tester"), bash("rm /elsewhere/a > /dev/null 2> /dev/stderr"))).toBeNull();
    expect(denial(as("tester"), bash("echo > /dev/sda"), { places: () => ["/dev/sda"] })).toBeNull();
    expect(denial(as("tester"), bash("echo > /dev/shm/x"), { places: () => [`${root}/x`] })).not.toBeNull();
  });

  it("that cannot be decided are denied to those who may not edit, and to nobody else with a task list", () => {
    const endless = "xargs ".repeat(60_000);
    expect(denial(as("tester"), bash(endless))).toContain("cannot be decided: it is too long to read");
    expect(denial(as("tester"), bash("xargs ".repeat(100)))).toContain("cannot be decided: it is nested too deep");
    expect(denial(as("tester"), bash("x".repeat(MAX_SHELL_CHARS + 1)))).toContain("cannot be decided");
    expect(denial(as("engineer"), bash(endless))).toBeNull();
    expect(denial(LEAD, bash(endless))).toBeNull();
    expect(denial(LEAD, bash(endless), { tasksExist: false })).toContain("no task list");
  });

  it("need a task list when writing is their purpose", () => {
    const none = { tasksExist: false };
    expect(denial(LEAD, bash("rm a"), none)).toContain("no task list");
    expect(denial(LEAD, bash("git pull"), none)).toBeNull();
    expect(denial(LEAD, bash("echo x > .nexus/memory/a.md"), none)).toBeNull();
    expect(denial(LEAD, bash("rm $X"), none)).toContain("no task list");
  });

  it("leave state, settings, Nexus and other agents alone", () => {
    const engineer = as("engineer");
    expect(denial(engineer, bash("echo {} > .nexus/state/tasks.json"))).toContain("off limits");
    expect(denial(engineer, bash("python3 -c \"open('.nexus/state/x','w')\""))).toContain("off limits");
    expect(denial(engineer, bash("cat .nexus/state/tasks.json"))).toBeNull();
    for (const command of [
      "nexus call task_add '{}'",
      "nexus --json call task_add",
      "npx nexus task add x",
      "node ./bin/nexus.js call x",
      "bash -c 'nexus run a.nut'",
      "echo x | xargs nexus call",
    ])
      expect(denial(engineer, bash(command)), command).toContain("may not run");
    for (const command of [
      "nexus status",
      "nexus history x",
      "nexus --help",
      "nexus",
      "echo nexus call",
      "node nexus.js show",
    ])
      expect(denial(engineer, bash(command)), command).toBeNull();
    for (const command of ["claude -p x", "codex -m y exec z", "opencode run x", "env A=1 claude --print x"])
      expect(denial(engineer, bash(command)), command).toContain("may not start agents");
    expect(denial(engineer, bash("claude --version; echo codex exec"))).toBeNull();
    expect(denial(LEAD, bash("nexus call task_add; claude -p x"))).toBeNull();
  });

  it("of those who may not edit run read-only where a sandbox works", () => {
    const sandbox = ["bwrap", "--ro bind", "bash", "-c"];
    const rewrite = (caller: Caller, over: Partial<GateFacts> = {}) =>
      decide(caller, bash("echo 'a'"), { sandbox, ...over }).rewrite;
    expect(rewrite(as("tester"))).toBe("bwrap '--ro bind' bash -c 'echo '\\''a'\\'''");
    expect(rewrite({ agentId: "x" })).not.toBeNull();
    expect(rewrite(as("engineer"))).toBeNull();
    expect(rewrite(LEAD)).toBeNull();
    expect(rewrite(as("tester"), { sandbox: null })).toBeNull();
  });

  it("run plainly where the host's own sandbox lets no other start, and then only with a tree to compare", () => {
    const facts = { sandbox: ["bwrap", "bash", "-c"], sandboxMayFail: true };
    expect(decide(as("tester"), bash("ls"), facts).rewrite).toBe(
      "if bwrap bash -c : 2>/dev/null; then bwrap bash -c ls; else bash -c ls; fi",
    );
    const needs: boolean[] = [];
    const loss: GateFacts["loss"] = (_, { needsTree }) => {
      needs.push(needsTree);
      return null;
    };
    for (const sandboxMayFail of [true, false])
      decide({ agentId: "x", agentName: "tester" }, bash("ls"), { ...facts, loss, sandboxMayFail });
    expect(needs).toEqual([true, false]);
  });

  it("that take commands nobody sees are not opened by those who may not edit, nor before there is a task list", () => {
    const open = (command: string): ToolUse => ({ ...bash(command), staysOpen: true });
    const opening = [
      "sh",
      "bash -l",
      "bash --norc -i",
      "python3",
      "python3 -i x.py",
      "node",
      "irb",
      "psql db",
      "env A=1 sh",
      ...["bash /dev/stdin", "sh /dev/fd/0", "python3 /dev/stdin", "node /proc/self/fd/0", ". /dev/stdin"],
      ...["make -f -", "make -f /dev/stdin", "ninja -f -", "awk -f -", "sed -n -f /dev/stdin a.txt", "make --file=-"],
      ...[
        "perl -de 1",
        "bun repl",
        "deno repl",
        "julia",
        "Rscript -",
        "sbcl",
        "dc",
        "parallel",
        "less a.txt",
        "man ls",
      ],
      ...["kubectl exec -it p -- sh", "rlwrap sh"],
    ];
    for (const command of opening) {
      for (const caller of [LEAD, as("tester")])
        expect(denial(caller, open(command), { tasksExist: false }), command).toContain("takes further commands");
      expect(denial(LEAD, open(command), { tasksExist: true }), command).toBeNull();
      expect(denial(LEAD, bash(command), { tasksExist: false }), command).toBeNull();
    }
    for (const command of ["docker run -it alpine sh", "docker exec -i c sh"])
      expect(denial(LEAD, open(command), { tasksExist: false }), command).toContain("takes further commands");
    for (const command of [
      "bash -lc ls",
      "sh x.sh",
      "python3 - <<E\n1\nE",
      "psql -c 'select 1'",
      "node -v",
      "python3 -m x",
      ...[
        "make -f build.mk",
        "make",
        "awk -f x.awk a.txt",
        "sed -n 1p -",
        "sudo ls",
        "docker ps",
        "docker images",
        "kubectl get pods",
      ],
      ...["julia x.jl", "perl -v", "Rscript x.R", "deno test", "bun test", "cat x.mk | make -f - -n"],
    ])
      expect(denial(LEAD, open(command), { tasksExist: false }), command).toBeNull();
  });
});
