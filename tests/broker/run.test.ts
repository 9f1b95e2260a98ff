// A run whose agents use credentials they never see: real programs in the sandbox, the secret looked for everywhere they have
// been, and in their memory while they are at work.
import { spawn } from "node:child_process";
import { closeSync, cpSync, mkdirSync, openSync, readdirSync, readFileSync, readSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bwrapAvailable } from "../../src/process/index.js";
import { call, environment, root, runFolderOf, start } from "../run/program.js";
import { helloRequest, scratch, sweep } from "../run/scripted.js";
import { addAll, type EveryKind, startEveryKind } from "./every-kind.js";

let every: EveryKind;
beforeAll(async () => {
  every = await startEveryKind();
}, 120_000);
afterAll(async () => {
  await every.close();
  sweep();
});

/** Uses everything as far as it may and further, shows all it has, stays a while, and does its task. */
const agent = () => `
{ env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr "\\0" "\\n"; ssh-add -L; git config --list; } > seen.txt 2>&1
${every.kinds.map(({ name, use }) => `if ${use} 2>>seen.txt; then echo "used ${name}" >> seen.txt; else echo "not used ${name}" >> seen.txt; fi`).join("\n")}
curl -s -X DELETE "$API_URL/users/1" >> seen.txt
curl -s "$API_URL/error" -i >> seen.txt
cat seen.txt; mkdir -p files; cp seen.txt files/hello.txt; echo "hello world" >> files/hello.txt; rm seen.txt
node -e 'setTimeout(() => {}, 1500)'
echo "VERDICT: pass"; echo "- [passed] 1: it greets"`;

const shapes = (text: string) => [
  text,
  Buffer.from(text).toString("hex"),
  Buffer.from(text).toString("base64").slice(0, -4),
];
/** All of them begin in a few ways, and whole memories are searched: what holds none of the beginnings holds none of them. */
const BEGINNING = 7;
function found(bytes: Buffer): readonly string[] {
  const wanted = every.canaries.flatMap(shapes);
  const beginnings = [...new Set(wanted.map((shape) => shape.slice(0, BEGINNING)))];
  return beginnings.some((text) => bytes.includes(text)) ? wanted.filter((shape) => bytes.includes(shape)) : [];
}

/** Pids of everything below one, by the kernel's own word. */
function below(pid: number): number[] {
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const parents = new Map(
    all.flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, "latin1");
        return [[Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1])] as const];
      } catch {
        return [];
      }
    }),
  );
  const inside = (one: number): boolean =>
    one === pid || (parents.has(one) && parents.get(one)! > 1 && inside(parents.get(one)!));
  const own = wordsOf(pid);
  // The broker holds it, and OpenSSH's agent for it; and what was only forked yet is the run itself for a moment.
  const holds = (words: string) => words.endsWith("/broker.js\0") || /^\S*ssh-(?:agent\0-D|add\0-q)\0/.test(words);
  return [...parents.keys()].filter(
    (one) => one !== pid && inside(one) && wordsOf(one) !== own && !holds(wordsOf(one)),
  );
}

function wordsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return "";
  }
}

/** Where in a process the secret is: variables, arguments, memory that can be written to. */
function inside(pid: number): string[] {
  const places: string[] = [];
  for (const name of ["environ", "cmdline"]) {
    try {
      if (found(readFileSync(`/proc/${pid}/${name}`)).length > 0) places.push(name);
    } catch {
      // It has ended.
    }
  }
  try {
    const memory = openSync(`/proc/${pid}/mem`, "r");
    try {
      for (const row of readFileSync(`/proc/${pid}/maps`, "latin1").split("\n")) {
        const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(row) ?? [];
        if (from === undefined) continue;
        const [start, end] = [Number.parseInt(from, 16), Number.parseInt(to!, 16)];
        const chunk = Buffer.alloc(Math.min(end - start, 1 << 24));
        for (let at = start; at < end; at += chunk.length - 128) {
          try {
            const got = readSync(memory, chunk, 0, Math.min(chunk.length, end - at), at);
            if (found(chunk.subarray(0, got)).length > 0) places.push(`memory of ${pid}`);
          } catch {
            break;
          }
        }
      }
    } finally {
      closeSync(memory);
    }
  } catch {
    // It has ended, or is not ours to look into.
  }
  return places;
}

function everyFile(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

let prepared: string | null = null;
/** With every kind: prepared by the first who asks, and a copy of that for each. */
function requestOfAll(): ReturnType<typeof request> {
  prepared ??= join(request(null).cwd, "..");
  const place = scratch();
  cpSync(prepared, place, { recursive: true });
  const cwd = join(place, "project");
  return { cwd, env: environment(cwd, every.trusts) };
}

/** With every kind, or with one that is handed out. */
function request(names: readonly string[] | null): { cwd: string; env: Record<string, string> } {
  const place = scratch();
  const cwd = join(place, "project");
  mkdirSync(cwd);
  const folder = helloRequest(place, { harness: { execution_strategy: "one-shot" } });
  const kinds = every.kinds.filter(({ name }) => names === null || names.includes(name));
  const own = `curl -s -H "Authorization: Bearer $API" ${every.service.origin}/v1/users | grep -q redacted:api`;
  const criteria = [
    { id: "greets", type: "shell", command: "grep -q 'hello world' files/hello.txt" },
    ...kinds.map(({ name, use }) => ({
      ...{ id: name, type: "shell", credential_ref: name },
      command: `env | tee -a proof.txt; ${use}${name === "api" ? ` && ${own}` : ""}`,
    })),
  ];
  const used = names === null ? criteria : criteria.slice(0, 1);
  writeFileSync(join(folder, "tests/criteria.json"), JSON.stringify({ criteria: used }));
  const env = environment(cwd, every.trusts);
  const keygen = call("nutshell", cwd, ["keygen"], env);
  expect(keygen.status, keygen.stderr).toBe(0);
  addAll(kinds, folder, cwd, env);
  return { cwd, env };
}

const MOST_LOOKS = 4;

/** Looks into what a program started, one after the other, until it ends. */
async function watched(child: {
  readonly pid?: number;
  readonly exitCode: number | null;
}): Promise<{ looked: number; places: string[] }> {
  const looks = new Map<number, number>();
  const places = new Set<string>();
  while (child.exitCode === null) {
    const fewest = below(child.pid!).sort((a, b) => (looks.get(a) ?? 0) - (looks.get(b) ?? 0))[0];
    const start = performance.now();
    if (fewest !== undefined && (looks.get(fewest) ?? 0) < MOST_LOOKS) {
      looks.set(fewest, (looks.get(fewest) ?? 0) + 1);
      for (const place of inside(fewest)) places.add(place);
    }
    // Reading a program's memory takes longer than what most of them do: it must not be all that happens here.
    await sleep(Math.max(50, 3 * (performance.now() - start)));
  }
  return { looked: looks.size, places: [...places] };
}

const allowed = () => every.allow.flatMap((origin) => ["--allow-origin", origin]);

describe.skipIf(!(await bwrapAvailable(process.env)))("a run whose credential is lent", () => {
  it("is done by agents in whom the secret is nowhere, and by checks too", async () => {
    const { cwd, env } = requestOfAll();
    const words = [
      "run",
      "../request",
      "--driver",
      "command",
      "--command",
      `sh -c '${agent().replaceAll("'", "'\\''")}'`,
    ];
    const flags = ["--yes", "--quick", "--identity", join(cwd, ".config/nutshell/identity.txt"), ...allowed()];
    const run = start(cwd, [...words, ...flags, "-o", "done.nut", "--json"], env);
    const { looked, places } = await watched(run);
    const { stdout, stderr } = await run.done;
    expect(places).toEqual([]);
    expect(looked).toBeGreaterThan(3);
    const { delivery } = JSON.parse(stdout.trim().split("\n").at(-1)!);
    const results = delivery.result.acceptance_results.criteria.map(
      ({ id, status }: { id: string; status: string }) => `${id} ${status}`,
    );
    const names = every.kinds.map(({ name }) => name);
    expect(results, stderr + stdout).toEqual(["greets", ...names].map((id) => `${id} passed`));
    // It was used: with its secret, and only for what it is lent for.
    const { seen } = every.service;
    expect(
      seen.filter(({ headers }) => headers.authorization === `Bearer ${every.kinds[0]!.value}`).length,
    ).toBeGreaterThan(2);
    expect(seen.filter(({ method }) => method !== "GET")).toEqual([]);
    // Said, kept, delivered: nowhere.
    expect(found(Buffer.from(stdout + stderr))).toEqual([]);
    expect(stderr + stdout).toContain("was refused DELETE");
    const delivered = gunzipSync(readFileSync(join(cwd, "done.nut")).subarray(4));
    expect(found(delivered)).toEqual([]);
    expect(names.filter((name) => !delivered.includes(`\nused ${name}\n`))).toEqual([]);
    expect(everyFile(cwd).filter((path) => found(readFileSync(path)).length > 0)).toEqual([]);
    const uses = readFileSync(join(runFolderOf(cwd), "logs/credential-uses.jsonl"), "utf8");
    expect(uses).toContain('"by":"engineer-1","what":"GET ');
    expect(uses).toMatch(/"what":"DELETE [^"]*","allowed":false,"why":"credential \\"api\\" may only read/);
    for (const name of names) expect(uses).toMatch(new RegExp(`"name":"${name}",[^\n]*"by":"acceptance"`));
    expect(delivered.includes("credential-uses.jsonl")).toBe(true);
    const prompt = readFileSync(join(runFolderOf(cwd), "agents/engineer-1/prompt.md"), "utf8");
    expect(prompt).toContain("send requests to $API_URL instead of");
  }, 120_000);

  it("is done by one program of a person's, and by nobody who sees it", async () => {
    const { cwd, env } = requestOfAll();
    const names = every.kinds.flatMap(({ name }) => ["--with", name]);
    const script = [...every.kinds.map(({ use }) => use), "env", "node -e 'setTimeout(() => {}, 600)'"].join(" && ");
    const argv = ["exec", "--broker", "--proxy", ...names, ...allowed(), "--", "sh", "-c", script];
    const child = spawn(process.execPath, [join(root, "bin/nutshell.js"), ...argv], {
      cwd: join(cwd, "../request"),
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk) => {
        said += chunk;
      });
    }
    const { looked, places } = await watched(child);
    expect([child.exitCode, places], said).toEqual([0, []]);
    expect(looked).toBeGreaterThan(0);
    expect(found(Buffer.from(said))).toEqual([]);
    expect(everyFile(join(cwd, "..")).filter((path) => found(readFileSync(path)).length > 0)).toEqual([]);
  }, 60_000);

  it("hands out by the person's word alone, and says so", async () => {
    const { cwd, env } = request(["api"]);
    const script = 'case "$API" in canary-*) echo "hello world" > files/hello.txt;; esac; echo "VERDICT: pass"';
    const ran = call(
      "nexus",
      cwd,
      [
        ...[
          "run",
          "../request",
          "--driver",
          "command",
          "--command",
          `sh -c '${script}'`,
          "--yes",
          "--quick",
          "--hand-out",
          "api",
        ],
        ...["--identity", join(cwd, ".config/nutshell/identity.txt"), "--json", "-o", "done.nut"],
      ],
      env,
    );
    expect(ran.stdout + ran.stderr).toContain(
      'credential \\"api\\" is handed out to agents, who see its value: the person said --hand-out',
    );
    const { delivery } = JSON.parse(ran.stdout.trim().split("\n").at(-1)!);
    expect(delivery.result.acceptance_results.criteria[0], ran.stderr).toMatchObject({
      id: "greets",
      status: "passed",
    });
  }, 60_000);
});
