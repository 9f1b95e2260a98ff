// A run whose agents use credentials they never see: real programs in the sandbox, the secret looked for everywhere they have
// been, and in their memory while they are at work.
import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, readSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bwrapAvailable } from "../../src/process/index.js";
import { call, environment, runFolderOf, start } from "../run/program.js";
import { helloRequest, scratch, sweep } from "../run/scripted.js";
import { SECRET, type Service, startService } from "./service.js";

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(async () => {
  await service.close();
  sweep();
});

/** Uses the service as far as it may and further, shows all it has, stays a while, and does its task. */
const AGENT = `
{ env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr "\\0" "\\n"; } > seen.txt
curl -s "$API_URL/users" >> seen.txt
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
const found = (bytes: Uint8Array) => shapes(SECRET).filter((shape) => Buffer.from(bytes).includes(shape));

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
  // The broker holds it; and what was only forked yet is the run itself for a moment.
  return [...parents.keys()].filter(
    (one) => one !== pid && inside(one) && wordsOf(one) !== own && !wordsOf(one).endsWith("\0broker\0"),
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

async function request(
  restrict: readonly string[],
  withCheck = true,
): Promise<{ cwd: string; env: Record<string, string> }> {
  const root = scratch();
  const cwd = join(root, "project");
  mkdirSync(cwd);
  const folder = helloRequest(root, { harness: { execution_strategy: "one-shot" } });
  const criteria = [
    { id: "AC-1", type: "shell", command: "grep -q 'hello world' files/hello.txt" },
    {
      id: "AC-2",
      type: "shell",
      credential_ref: "api",
      command: `env | tee -a proof.txt; curl -s "$API_URL/users" | grep -q redacted:api && curl -s -H "Authorization: Bearer $API" ${service.origin}/v1/users | grep -q redacted:api`,
    },
  ];
  writeFileSync(
    join(folder, "tests/criteria.json"),
    JSON.stringify({ criteria: withCheck ? criteria : criteria.slice(0, 1) }),
  );
  const env = environment(cwd);
  const keygen = call("nutshell", cwd, ["keygen"], env);
  expect(keygen.status, keygen.stderr).toBe(0);
  const argv = ["add-credential", "--dir", folder, "--name", "api", "--type", "bearer_token", "--scope", "read"];
  const added = spawnSync(
    process.execPath,
    [
      join(import.meta.dirname, "../../bin/nutshell.js"),
      ...argv,
      "--expires",
      "30d",
      "--value-stdin",
      ...restrict.flatMap((one) => ["--restrict", one]),
    ],
    { cwd, env, input: SECRET, encoding: "utf8" },
  );
  expect(added.status, added.stderr).toBe(0);
  return { cwd, env };
}

describe.skipIf(!(await bwrapAvailable(process.env)))("a run whose credential is lent", () => {
  it("is done by agents in whom the secret is nowhere, and by checks too", async () => {
    const { cwd, env } = await request([`base_url=${service.origin}/v1`]);
    const run = start(
      cwd,
      [
        ...[
          "run",
          "../request",
          "--driver",
          "command",
          "--command",
          `sh -c '${AGENT.replaceAll("'", "'\\''")}'`,
          "--yes",
          "--quick",
        ],
        ...[
          "--identity",
          join(cwd, ".config/nutshell/identity.txt"),
          "--allow-origin",
          service.origin,
          "-o",
          "done.nut",
          "--json",
        ],
      ],
      env,
    );
    const looked = new Set<number>();
    const places = new Set<string>();
    while (run.exitCode === null) {
      for (const pid of below(run.pid!)) {
        looked.add(pid);
        for (const place of inside(pid)) places.add(place);
      }
      await sleep(100);
    }
    const { stdout, stderr } = await run.done;
    expect([...places]).toEqual([]);
    expect(looked.size).toBeGreaterThan(3);
    const { delivery } = JSON.parse(stdout.trim().split("\n").at(-1)!);
    const results = delivery.result.acceptance_results.criteria.map(
      ({ id, status }: { id: string; status: string }) => `${id} ${status}`,
    );
    expect(results, stderr).toEqual(["AC-1 passed", "AC-2 passed"]);
    // It was used: with its secret, and only for what it is lent for.
    expect(service.seen.filter(({ headers }) => headers.authorization === `Bearer ${SECRET}`).length).toBeGreaterThan(
      2,
    );
    expect(service.seen.filter(({ method }) => method !== "GET")).toEqual([]);
    // Said, kept, delivered: nowhere.
    expect(found(Buffer.from(stdout + stderr))).toEqual([]);
    expect(stderr + stdout).toContain("was refused DELETE");
    const bundle = readFileSync(join(cwd, "done.nut"));
    expect(found(gunzipSync(bundle.subarray(4)))).toEqual([]);
    expect(everyFile(cwd).filter((path) => found(readFileSync(path)).length > 0)).toEqual([]);
    const uses = readFileSync(join(runFolderOf(cwd), "logs/credential-uses.jsonl"), "utf8");
    expect(uses).toContain('"by":"engineer-1","what":"GET ');
    expect(uses).toMatch(/"what":"DELETE [^"]*","allowed":false,"why":"credential \\"api\\" may only read/);
    expect(uses).toContain('"by":"acceptance"');
    expect(gunzipSync(bundle.subarray(4)).includes("credential-uses.jsonl")).toBe(true);
    const prompt = readFileSync(join(runFolderOf(cwd), "agents/engineer-1/prompt.md"), "utf8");
    expect(prompt).toContain("send requests to $API_URL instead of");
  }, 60_000);

  it("hands out by the person's word alone, and says so", async () => {
    const { cwd, env } = await request([`base_url=${service.origin}/v1`], false);
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
    expect(delivery.result.acceptance_results.criteria[0], ran.stderr).toMatchObject({ id: "AC-1", status: "passed" });
  }, 60_000);
});
