// Every file we read may be of another shape than we wrote it: no command then speaks in the words of a validator or of
// the engine, ends as our mistake, or hangs.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { main } from "../../src/cli/main.js";
import { program as nexus } from "../../src/commands/nexus/program.js";
import { program as nutshell } from "../../src/commands/nutshell/program.js";

const place = mkdtempSync(join(tmpdir(), "nut-shape-"));
afterAll(() => rmSync(place, { recursive: true, force: true }));
const EXAMPLE = fileURLToPath(new URL("../../examples/1-bug-fix", import.meta.url));
const PROGRAMS = { nutshell, nexus };

async function run([name, ...argv]: readonly string[]) {
  let said = "";
  const sink = () =>
    Object.assign(
      new Writable({
        write(chunk, _encoding, done) {
          said += chunk;
          done();
        },
      }),
      { isTTY: false },
    );
  const code = await main(PROGRAMS[name as keyof typeof PROGRAMS], argv, {
    cwd: place,
    env: { PATH: process.env.PATH, HOME: join(place, "home"), CLAWNET_ADDR: "127.0.0.1:9" },
    now: () => new Date("2026-03-14T10:00:00Z"),
    signal: AbortSignal.timeout(20_000),
    stdin: () => Readable.from([]),
    stdout: sink(),
    stderr: sink(),
    ask: null,
  });
  return { code, said };
}

const RESULT = {
  nutshell_version: "0.2.0",
  bundle_type: "delivery",
  request_id: "nut-1",
  status: "completed",
  summary: "s",
  deliverer: { name: "me" },
  artifacts: { files_created: [{ path: "files/a.txt" }], files_modified: [] },
  acceptance_results: { criteria: [{ id: "AC-001", status: "passed" }], checklist: [{ item: "a", status: "passed" }] },
  execution_log: { decisions: [{ decision: "d", reason: "r" }], issues_encountered: ["i"], credentials_used: ["c"] },
};
const DELIVERY = {
  nutshell_version: "0.2.0",
  bundle_type: "delivery",
  id: "nut-2",
  request_id: "nut-1",
  files: { total_count: 1, total_size_bytes: 2, tree: [{ path: "delivery/artifacts/files/a.txt", size: 2 }] },
  execution_log: { credentials_used: ["c"] },
};
const HISTORY = {
  cycles: [
    {
      schema_version: "0.7",
      completed_at: "2026-03-14T10:00:00Z",
      branch: "main",
      plan: { id: 1, topic: "t", issues: [{ id: 1, title: "i", status: "decided", decision: "d" }] },
      tasks: [{ id: 1, title: "t", status: "completed", context: "c", deps: [] }],
    },
  ],
};
const HOOKS = { hooks: { PreToolUse: [{ matcher: "x", hooks: [] }] }, permissions: { deny: [] } };

interface Target {
  readonly file: string;
  readonly good: unknown;
  readonly commands: readonly string[];
}

const TARGETS: readonly Target[] = [
  {
    file: "done/delivery/result.json",
    good: RESULT,
    commands: [
      "check done",
      "validate done",
      "inspect done",
      "diff t done",
      "verify done --request t",
      "merge done done -o m",
    ],
  },
  {
    file: "done/nutshell.json",
    good: DELIVERY,
    commands: ["check done", "validate done", "inspect done", "diff t done"],
  },
  {
    file: "t/nutshell.json",
    good: null,
    commands: [
      ...["check t", "validate t", "inspect t", "credentials --dir t", "set task.title x --dir t", "sign t"],
      ...["hide --criteria hidden.json --dir t", "publish --dir t --yes", "finish t -r t --no-accept -o f.nut"],
    ],
  },
  {
    file: "hidden.json",
    good: { criteria: [{ id: "H", type: "shell", command: "true" }] },
    commands: ["hide t -c hidden.json --replace"],
  },
  { file: ".nexus/history.json", good: HISTORY, commands: ["nexus history", "nexus status"] },
  { file: ".claude/settings.json", good: HOOKS, commands: ["nexus setup claude --dry-run"] },
  { file: ".mcp.json", good: { mcpServers: { a: { command: "b" } } }, commands: ["nexus setup claude --dry-run"] },
  {
    file: "opencode.json",
    good: { mcp: { a: { type: "local" } }, plugin: [] },
    commands: ["nexus setup opencode --dry-run"],
  },
];

const TEXTS = ["", "null", "[]", "5", "{", '{"a":1,"a":2}', "\ufeff{}", "\0"];
const VALUES = [null, 5, "x", [], {}, [null], "\0"];

/** The document with one place of it wrong or gone, for a few of its places. */
function* mutations(good: unknown): Generator<string> {
  const paths: string[][] = [];
  const walk = (value: unknown, path: string[]): void => {
    if (path.length > 0) paths.push(path);
    if (typeof value === "object" && value !== null)
      for (const [key, inner] of Object.entries(value)) walk(inner, [...path, key]);
  };
  walk(good, []);
  for (const [index, path] of paths.entries()) {
    for (const value of [VALUES[index % VALUES.length], undefined]) {
      const copy = structuredClone(good) as Record<string, unknown>;
      const holder = path.slice(0, -1).reduce((at, key) => at[key] as Record<string, unknown>, copy);
      if (value === undefined) delete holder[path.at(-1)!];
      else holder[path.at(-1)!] = value;
      yield JSON.stringify(copy);
    }
  }
}

/** Words of a validator, an engine or nobody. */
const RAW =
  /\breceived\b|expected \w+,|Invalid (?:input|option)|ZodError|undefined|\[object|another form|Unexpected token|\bNaN\b|in JSON at|TypeError|Cannot read|not iterable/;

describe("a file of another shape", () => {
  beforeAll(async () => {
    cpSync(EXAMPLE, join(place, "t"), { recursive: true });
    for (const { file, good } of TARGETS) write(file, good);
    write("done/delivery/artifacts/files/a.txt", "a\n");
    mkdirSync(join(place, ".git"));
    expect((await run(["nutshell", "keygen"])).code).toBe(0);
  });

  function write(file: string, content: unknown): void {
    if (content === null) return;
    mkdirSync(dirname(join(place, file)), { recursive: true });
    writeFileSync(join(place, file), typeof content === "string" ? content : JSON.stringify(content));
  }

  it.each(TARGETS)("is told in plain words: $file", async ({ file, good, commands }) => {
    const before = readFileSync(join(place, file));
    const texts = [...TEXTS, ...mutations(good ?? JSON.parse(before.toString("utf8")))];
    for (const [index, text] of texts.entries()) {
      // Every text, with one command after the other.
      const words = commands[index % commands.length]!.split(" ");
      write(file, text);
      const { code, said } = await run(words[0] === "nexus" ? words : ["nutshell", ...words]);
      const told = `${words.join(" ")} on ${file} = ${text.slice(0, 400)}: ${code}\n${said}`;
      expect([0, 1, 2], told).toContain(code);
      expect(said.match(RAW)?.[0], told).toBeUndefined();
      for (const made of ["m", "f.nut"]) rmSync(join(place, made), { recursive: true, force: true });
    }
    writeFileSync(join(place, file), before);
  });

  it("of a host's settings, where ours would go, is left as it is", async () => {
    for (const [file, text, words] of [
      [".claude/settings.json", '{"hooks": null}', "hooks is not a section"],
      [".claude/settings.json", '{"hooks": {"PreToolUse": "x"}}', "hooks.PreToolUse is not a list"],
    ] as const) {
      write(file, text);
      const { code, said } = await run(["nexus", "setup", "claude", "--yes"]);
      expect([code, said.includes(words)], said).toEqual([2, true]);
      expect(readFileSync(join(place, file), "utf8")).toBe(text);
    }
  });
});
