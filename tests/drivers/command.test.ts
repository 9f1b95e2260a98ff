import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { lineFrom, loadDriver } from "../../src/drivers/index.js";
import { bwrapAvailable } from "../../src/process/index.js";
import { type Desk, desk } from "./desk.js";

const held = await bwrapAvailable(process.env);
let at: Desk;
beforeEach(() => {
  at = desk();
});
afterEach(() => at.remove());

describe("the command driver", () => {
  it("is named from the folder one is in, as in a shell, and says so where no program is", async () => {
    expect(lineFrom("./agent.sh --fast", "/a b")).toBe("'/a b/agent.sh' --fast");
    expect(lineFrom("KEY=1 ../bin/agent", "/a/b")).toBe("KEY=1 /a/bin/agent");
    for (const line of ["agent --dir ./x", "/bin/cat", "~/agent", '"$HOME/agent"', "", undefined])
      expect(lineFrom(line, "/a")).toBe(line);
    const { probe } = await loadDriver("command");
    expect(await probe(process.env, "/nowhere/agent.sh")).toMatchObject({
      usable: false,
      reason: "/nowhere/agent.sh is no program that can be started",
      hint: "ls -l /nowhere/agent.sh",
    });
  });

  it("gives the prompt on standard input and takes the result from standard output", async () => {
    const end = await at.run("command", { command: "cat; echo made > made.txt" });
    expect(end).toMatchObject({ outcome: "completed", text: "You are the engineer.\n\nDo the task.", usage: null });
    expect(end.sessionId).toMatch(/^[0-9a-f-]{36}$/);
    expect(readFileSync(join(at.cwd, "made.txt"), "utf8")).toBe("made\n");
  });

  it("is believed when it says that the work is not to blame, and ends with another exit than 0", async () => {
    const told = (kind: string, more = "") => `{"nexus_event":"trouble","kind":"${kind}","message":"why it is"${more}}`;
    const ending = (line: string, exit: number) =>
      at.run("command", { command: `cat >&2; echo '${line}'; exit ${exit}` });
    for (const kind of ["login", "limit", "overload", "transport", "session", "model"])
      expect(await ending(told(kind), 3)).toMatchObject({ outcome: "failed", error: "why it is", trouble: { kind } });
    const limited = await ending(told("limit", ',"retry_after":30'), 1);
    expect(limited.trouble).toEqual({ kind: "limit", retryAfterMs: 30_000 });
    expect(at.of("waiting").at(-1)).toMatchObject({ why: "limit", message: "why it is" });
    expect((await ending(`${told("limit")}\nit is done`, 0)).outcome).toBe("completed");
    expect((await ending(told("other"), 3)).trouble).toBeUndefined();
  });

  it("tells the program about its role, its servers and its limits, and nothing of our environment", async () => {
    const script =
      'cat "$NEXUS_ROLE_FILE" "$NEXUS_MCP_CONFIG"; echo; echo "$NEXUS_MAY_EDIT$NEXUS_MAY_SHELL $NEXUS_TASK_ID $SECRET"; env';
    const end = await at.run("command", {
      command: script,
      may: { edit: false, shell: true },
      mcpServers: [{ name: "nx", command: "nexus", args: ["mcp"], env: { A: "1" } }],
      extraEnv: { NEXUS_TASK_ID: "7" },
      env: { PATH: process.env.PATH, HOME: "/nowhere", AWS_SECRET_ACCESS_KEY: "canary" },
    });
    expect(end.text).toContain(
      'You are the engineer.{"mcpServers":{"nx":{"command":"nexus","args":["mcp"],"env":{"A":"1"}}}}\n01 7 \n',
    );
    expect(end.text).not.toContain("canary");
    expect(end.text.split("\n")).toContain(`HOME=${at.home}`);
    expect(existsSync(join(at.home, "sessions", end.sessionId!))).toBe(false);
  });

  it.runIf(held)("shows what was installed where it belongs, and lets nobody write there", async () => {
    at.put({
      "kept/adder/index.js": "right\n",
      "kept/.vite/.keep": "",
      "venv/bin/tool": "#!/bin/sh\necho found\n",
      "elsewhere/x": "",
    });
    chmodSync(join(at.folder, "venv/bin/tool"), 0o755);
    symlinkSync(join(at.folder, "elsewhere"), join(at.cwd, "away"));
    const installed = {
      folders: [
        { path: "node_modules", from: join(at.folder, "kept"), caches: [".vite"] },
        { path: ".venv", from: join(at.folder, "venv"), caches: [] },
        { path: "away/node_modules", from: join(at.folder, "kept"), caches: [] },
        { path: "gone/node_modules", from: join(at.folder, "kept"), caches: [] },
      ],
      bins: [".venv/bin"],
      env: { CARGO_HOME: "{tree}/.cache/cargo" },
      place: "/home/user/project",
    };
    const command = [
      "cat node_modules/adder/index.js; tool; /home/user/project/.venv/bin/tool; echo $CARGO_HOME",
      "echo wrong > node_modules/adder/index.js && echo WRITTEN; rm -r node_modules && echo REMOVED",
      "mv .venv other && echo MOVED; mkdir node_modules/evil && echo MADE; echo x > node_modules/.vite/x && echo cached",
    ].join("; ");
    for (const edit of [true, false]) {
      const { text } = await at.run("command", { command, installed, may: { edit, shell: true } });
      expect(text).toBe(`right\nfound\nfound\n${at.cwd}/.cache/cargo\ncached`);
    }
    expect(readFileSync(join(at.folder, "kept/adder/index.js"), "utf8")).toBe("right\n");
    expect([readdirSync(join(at.folder, "kept/.vite")), readdirSync(join(at.folder, "elsewhere"))]).toEqual([
      [".keep"],
      ["x"],
    ]);
    expect(existsSync(join(at.cwd, "gone"))).toBe(false);
    rmSync(join(at.cwd, "node_modules"), { recursive: true });
    const alone = "echo wrong > node_modules/adder/index.js; cat node_modules/adder/index.js";
    expect((await at.run("command", { command: alone, installed, sandbox: "off" })).text).toBe("wrong");
    expect(readFileSync(join(at.folder, "kept/adder/index.js"), "utf8")).toBe("right\n");
  });

  it("hears events among the text", async () => {
    const lines = [
      '{"nexus_event":"tool_call","id":"1","tool":"nx.plan_start","input":{"a":1}}',
      "working",
      '{"nexus_event":"file","path":"a.txt","change":"created"}',
      '{"nexus_event":"usage","input_tokens":10,"output_tokens":2}',
      '{"nexus_event":"nonsense"}',
      "report",
    ];
    const end = await at.run("command", { command: `cat <<'E'\n${lines.join("\n")}\nE` });
    expect(end).toMatchObject({
      text: 'working\n{"nexus_event":"nonsense"}\nreport',
      usage: { inputTokens: 10, outputTokens: 2 },
    });
    expect(at.events.map(({ type }) => type)).toEqual(["session", "tool_call", "file", "usage"]);
  });

  it.each([
    ["true", "it ended without a word"],
    ["echo talk; echo 'no such thing' >&2; exit 3", "no such thing"],
    [
      "printf '\\033[31mError: no such thing\\033[39m\\n\\033[2m  at x\\033[22m\\n' >&2; exit 3",
      "Error: no such thing",
    ],
    ["echo talk; kill -9 $$", /exit 137|SIGKILL/],
  ])("calls %j a failure", async (command, error) => {
    expect(await at.run("command", { command })).toMatchObject({
      outcome: "failed",
      error: error instanceof RegExp ? expect.stringMatching(error) : error,
    });
  });

  it("ends at its time limit, and on request, with everything it started", async () => {
    expect(await at.run("command", { command: "setsid sleep 300 & sleep 300", timeoutMs: 300 })).toMatchObject({
      outcome: "timeout",
    });
    const session = await at.start("command", { command: "echo half; sleep 300" });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await session.cancel()).toMatchObject({ outcome: "cancelled", text: "half" });
  });

  it("needs a command", async () => {
    await expect(at.run("command")).rejects.toMatchObject({ code: "DRIVER_MISSING" });
  });
});

describe.skipIf(!held)("a role that may not edit (needs bwrap)", () => {
  const WAYS = [
    "echo x > kept",
    "echo x >> kept",
    "rm kept",
    "mv kept moved",
    "cp /etc/hostname new",
    "ln -s / link",
    "mkdir folder",
    "touch new",
    "chmod +x kept",
    "sed -i s/a/b/ kept",
    "tee new </dev/null",
    "dd if=/dev/zero of=kept bs=1 count=1",
    "truncate -s0 kept",
    "git init .",
    "python3 -c \"open('new','w')\"",
    "node -e \"require('fs').writeFileSync('new','')\"",
    "sh -c 'exec 3>new'",
    "setsid sh -c 'echo x > new'",
    "env -i sh -c 'echo x > kept'",
    "mount -o remount,rw .",
    "echo x > /proc/self/cwd/new",
    "echo x > /proc/1/cwd/new",
  ];

  it("leaves nothing behind, whichever way it tries", async () => {
    at.put({ "work/kept": "abc\n" });
    const command = `${WAYS.map((way) => `{ ${way}; } >/dev/null 2>&1`).join("\n")}\necho tried`;
    expect(await at.run("command", { command, may: { edit: false, shell: true } })).toMatchObject({
      outcome: "completed",
      text: "tried",
    });
    const { readdirSync } = await import("node:fs");
    expect(readdirSync(at.cwd)).toEqual(["kept"]);
    expect(readFileSync(join(at.cwd, "kept"), "utf8")).toBe("abc\n");
  });

  it("sees none of the person's files, and of what it is shown changes nothing", async () => {
    const secrets = [".ssh/id", ".config/nutshell/identity.txt", ".aws/credentials", ".netrc", "notes/plan.md"];
    at.put(Object.fromEntries(secrets.map((path) => [`person/${path}`, "s3cret"])));
    at.put({ "state/x": "shown\n" });
    const person = join(at.folder, "person");
    const command = `cat ${at.folder}/state/x; cd ${person} && cat ${secrets.join(" ")}; echo w > new; echo s > ${at.folder}/state/y; echo o > ${at.folder}/outside; true`;
    const end = await at.run("command", { command, readable: [join(at.folder, "state")] });
    expect(end).toMatchObject({ outcome: "completed", text: "shown" });
    expect(["state/y", "work/new", "outside"].map((path) => existsSync(join(at.folder, path)))).toEqual([
      false,
      true,
      false,
    ]);
  });
});
