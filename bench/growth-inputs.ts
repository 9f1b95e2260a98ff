// What grows, made as large as asked: folders by what they have much of, bundles of them, and projects.
import { spawnSync } from "node:child_process";
import {
  closeSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Journal } from "../src/run/record/journal.js";
import { RUN_VERSION } from "../src/schema/run.js";
import { readAgeIdentityFile, recipientOf, sealVault } from "../src/vault/index.js";

const root = fileURLToPath(new URL("..", import.meta.url));
/** In memory, where there is some: the disk is not what is measured. */
export const work = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "nut-growth-"));
const home = join(work, "home");
mkdirSync(home);
export const env = { PATH: process.env.PATH, HOME: home, TMPDIR: work, NUTCRACKER_CONSENT: "all" };
const MB = 1024 ** 2;

/** `hook` is what a host starts for every event; `browse` looks at what a command of nutshell serves. */
export type Program = "nutshell" | "nexus" | "hook" | "browse";
export function commandLine(program: Program, args: readonly string[]): string[] {
  if (program === "browse")
    return [process.execPath, join(root, "bench/growth-browse.mjs"), ...commandLine("nutshell", args)];
  const file = program === "hook" ? "dist/hook/hook.js" : `bin/${program}.js`;
  return [process.execPath, join(root, file), ...args];
}

/** Made ready, not measured. */
function must(program: Program, args: readonly string[], more: { cwd?: string; input?: string } = {}): void {
  const [node = "", ...words] = commandLine(program, args);
  const { status, stderr } = spawnSync(node, words, { cwd: work, env, encoding: "utf8", ...more });
  if (status !== 0 && status !== 1) throw new Error(`${program} ${args.join(" ")}: ${stderr}`);
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function manifest(more: object = {}): string {
  return JSON.stringify({
    nutshell_version: "0.2.0",
    bundle_type: "request",
    id: "nut-00000000-0000-4000-8000-000000000001",
    task: { title: "Growth", summary: "What grows" },
    ...more,
  });
}

const many = (n: number, of: (i: number) => string): string => Array.from({ length: n }, (_, i) => of(i)).join("");
/** Two of three lines are those of the other text, in another order in places. */
const lines = (n: number, seed: number): string => many(n, (i) => `${i % 3 === seed ? i * 7 + seed : i}\n`);

/** Folders by what there is much of: `make(folder, n)`. */
const folders = {
  files: (dir: string, n: number) => {
    put(join(dir, "nutshell.json"), manifest());
    for (let i = 0; i < n; i += 1) put(join(dir, `files/d${i % 100}/f${i}.txt`), `content of ${i}\n`);
  },
  /** A request whose one point a person judges. */
  judged: (dir: string, n: number) => {
    put(join(dir, "nutshell.json"), manifest({ acceptance: { checklist: ["polite"] } }));
    for (let i = 0; i < n; i += 1) put(join(dir, `files/d${i % 100}/f${i}.txt`), `content of ${i}\n`);
  },
  /** Somebody else's task, with a check to seal. */
  foreign: (dir: string, n: number) => {
    put(join(dir, "task.yaml"), "instruction: do it\ndifficulty: easy\nparser_name: pytest\n");
    put(join(dir, "Dockerfile"), "FROM python:3.13\nWORKDIR /app\nCOPY files /app/files\n");
    put(join(dir, "run-tests.sh"), "pytest tests\n");
    put(join(dir, "tests/test_outputs.py"), "def test_it():\n    assert True\n");
    for (let i = 0; i < n; i += 1) put(join(dir, `files/d${i % 100}/f${i}.txt`), `content of ${i}\n`);
  },
  megabytes: (dir: string, n: number) => {
    put(join(dir, "nutshell.json"), manifest());
    const piece = Buffer.from(many(40_000, (i) => `line ${i} of ${(i * 7919) % 99_991}\n`)).subarray(0, MB);
    mkdirSync(join(dir, "files"));
    const file = openSync(join(dir, "files/large.txt"), "w");
    for (let i = 0; i < n; i += 1) writeSync(file, piece);
    closeSync(file);
  },
  lines: (dir: string, n: number) => {
    put(join(dir, "nutshell.json"), manifest());
    put(join(dir, "files/long.txt"), lines(n, 0));
  },
  otherLines: (dir: string, n: number) => {
    put(join(dir, "nutshell.json"), manifest());
    put(join(dir, "files/long.txt"), lines(n, 1));
  },
  blanks: (dir: string, n: number) => {
    put(join(dir, "nutshell.json"), manifest());
    put(join(dir, "files/blank.txt"), `${"\n".repeat(n)}x${" ".repeat(n)}x${"\t".repeat(n)}`);
  },
  repeats: (dir: string, n: number) => {
    const big = "context/big.md";
    put(join(dir, "nutshell.json"), manifest({ context: { requirements: big, additional: Array(n).fill(big) } }));
    put(
      join(dir, big),
      many(200_000, (i) => `line ${i}\n`),
    );
  },
  entries: (dir: string, n: number) => {
    const checklist = Array.from({ length: n }, (_, i) => `point ${i} holds`);
    const criteria = Array.from({ length: n }, (_, i) => ({ id: `c${i}`, type: "shell", command: "true" }));
    put(join(dir, "nutshell.json"), manifest({ acceptance: { checklist, criteria_file: "tests/criteria.json" } }));
    put(join(dir, "tests/criteria.json"), JSON.stringify({ criteria }));
  },
  spaces: (dir: string, n: number) => {
    const constraints = [`do not modify ${" ".repeat(n)}x`, `only change ${"a, ".repeat(n / 3)}`, `${".".repeat(n)}x`];
    put(join(dir, "nutshell.json"), manifest({ harness: { constraints } }));
    put(join(dir, "files/a.txt"), "a\n");
    put(join(dir, "tests/criteria.json"), JSON.stringify({ criteria: [{ id: "c", type: "shell", command: "true" }] }));
  },
  delivery: (dir: string, n: number) => {
    const id = "nut-00000000-0000-4000-8000-000000000002";
    const request = "nut-00000000-0000-4000-8000-000000000001";
    put(
      join(dir, "nutshell.json"),
      manifest({ id, bundle_type: "delivery", request_id: request, status: "completed" }),
    );
    for (let i = 0; i < n; i += 1) put(join(dir, `delivery/artifacts/files/d${i % 100}/f${i}.txt`), `work on ${i}\n`);
    const created = Array.from({ length: n }, (_, i) => ({ path: `files/d${i % 100}/f${i}.txt`, lines: 1 }));
    const result = { request_id: request, status: "completed", artifacts: { files_created: created } };
    put(join(dir, "delivery/result.json"), JSON.stringify(result));
  },
  depth: (dir: string, n: number) => {
    put(join(dir, "nutshell.json"), manifest());
    put(join(dir, "files", ...Array<string>(n).fill("d"), "a.txt"), "a\n");
  },
} as const;

type Axis = keyof typeof folders;

const made = new Set<string>();

/** Made once. */
function once(path: string, make: (path: string) => void): string {
  if (!made.has(path)) make(path);
  made.add(path);
  return path;
}

export const folder = (axis: Axis, n: number): string =>
  once(join(work, `${axis}-${n}`), (dir) => folders[axis](dir, n));

export const bundle = (axis: Axis, n: number): string =>
  once(join(work, `${axis}-${n}.nut`), (file) => {
    must("nutshell", ["pack", "--force", "--dir", folder(axis, n), "-o", file]);
  });

/** A path where nothing is. */
export function fresh(name: string): string {
  const path = join(work, name);
  rmSync(path, { recursive: true, force: true });
  return path;
}

export function freshFolder(name: string): string {
  mkdirSync(fresh(name));
  return join(work, name);
}

/** The two parts of a split folder, and what they are named after. */
export const partNames = (n: number) => [1, 2].map((i) => join(work, `part-${n}-part-${i}`));
export function freshParts(n: number): string {
  for (const path of partNames(n)) rmSync(path, { recursive: true, force: true });
  return join(work, `part-${n}`);
}
export const parts = (n: number): string[] => {
  once(join(work, `parted-${n}`), () =>
    must("nutshell", ["split", folder("files", n), "-n", "2", "-o", freshParts(n)]),
  );
  return partNames(n);
};

/** A bundle that a command may change. */
export function changeable(axis: Axis, n: number): string {
  const path = fresh(`changeable-${n}.nut`);
  copyFileSync(bundle(axis, n), path);
  return path;
}

/** A folder whose checks can be hidden, made anew, and the words that hide them. */
export async function hideable(n: number): Promise<string[]> {
  const dir = fresh(`hideable-${n}`);
  folders.files(dir, n);
  const criteria = join(work, "hidden.json");
  put(criteria, JSON.stringify({ criteria: [{ id: "h", type: "shell", command: "sh tests/h.sh" }] }));
  put(join(dir, "tests/h.sh"), "true\n");
  return [dir, "--criteria", criteria, "--recipient", await recipientOf(ownKey())];
}

/** One's own key to sign with. */
export const signingKey = (): string =>
  once(join(work, "signer.key"), (path) => must("nutshell", ["keygen", "--peer", "-o", path]));

const KEY = join(work, "identity.txt");

function ownKey(): string {
  if (!existsSync(KEY)) must("nutshell", ["keygen", "-o", KEY]);
  return readAgeIdentityFile(KEY)[0] ?? "";
}

/** A folder whose vault holds so many credentials, and the key that opens it. */
export async function vault(n: number): Promise<{ dir: string; key: string }> {
  const dir = join(work, `vault-${n}`);
  if (made.has(dir)) return { dir, key: KEY };
  made.add(dir);
  const key = ownKey();
  const credentials = Array.from({ length: n }, (_, i) => ({
    ...{ name: `credential-${i}`, type: "api_key", value: `value-of-number-${i}`, scopes: ["read"] },
    expires_at: "2099-01-01T00:00:00Z",
  }));
  const target = { recipients: [await recipientOf(key)] };
  const sealed = await sealVault({ vault_version: "0.2.0", credentials }, "age", target, { identities: [key] });
  put(join(dir, "credentials/vault.enc.json"), Buffer.from(sealed).toString("latin1"));
  const about = { vault: "credentials/vault.enc.json", encryption: "age" };
  put(join(dir, "nutshell.json"), manifest({ credentials: about }));
  return { dir, key: KEY };
}

/** A repository that holds the files of a request, committed. */
export const repository = (n: number): string =>
  once(join(work, `repository-${n}`), (dir) => {
    for (let i = 0; i < n; i += 1) put(join(dir, `files/d${i % 100}/f${i}.txt`), `content of ${i}\n`);
    for (const args of [
      ["init", "-q", "-b", "main"],
      ["add", "-A"],
      ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "a"],
    ])
      spawnSync("git", args, { cwd: dir, env });
  });

const EDIT_ALL = 'find files -type f -exec sh -c "for file; do echo more >> \\$file; done" sh {} + ; echo done';

/** A run whose agent changes every file of a repository. */
export const editAll = (n: number, output: string): string[] => [
  ...["run", bundle("files", 1), "--repo", repository(n), "--plan", "work", "-o", output],
  ...["--driver", "command", "--command", `sh -c '${EDIT_ALL}'`],
];

/** What such a run delivers. */
export const edited = (n: number): string =>
  once(join(work, `edited-${n}.nut`), (file) => {
    must("nexus", editAll(n, file), { cwd: freshFolder(nextName("project")) });
  });

let names = 0;
/** One nobody had before: what a run leaves is removed after its end, by a program of its own. */
export function nextName(what: string): string {
  names += 1;
  return `${what}-${names}`;
}

/** A project with tasks, each waiting for the one before. */
export function tasks(n: number): string {
  return once(join(work, `tasks-${n}`), (dir) => {
    const rows = Array.from({ length: n }, (_, i) => ({
      ...{ id: i + 1, title: `task ${i}`, owner: "engineer", status: "pending", context: "c".repeat(200) },
      ...{ deps: i === 0 ? [] : [i], created_at: "2026-01-01T00:00:00Z" },
    }));
    put(join(dir, ".nexus/state/tasks.json"), JSON.stringify({ goal: "g", decisions: [], tasks: rows }));
  });
}

/** Runs that were begun and never went on. */
export function runs(n: number): string {
  return once(join(work, `runs-${n}`), (dir) => {
    const options = { version: 2, request: "r.nut", title: "t", driver: "demo", created_at: "2026-01-01T00:00:00Z" };
    for (let i = 0; i < n; i += 1) {
      const run = join(dir, `.nexus/state/nutcracker/runs/20260101-000000-${String(i).padStart(6, "0")}`);
      put(join(run, "options.json"), JSON.stringify(options));
      put(join(run, "journal.jsonl"), "");
    }
  });
}

export function cycles(n: number): string {
  return once(join(work, `cycles-${n}`), (dir) => {
    const cycle = (i: number) => ({
      ...{ schema_version: "1.0.0", completed_at: "2026-01-01T00:00:00Z", branch: "main" },
      ...{ plan: { id: i, topic: `topic ${i}`, issues: [] }, tasks: [] },
    });
    put(
      join(dir, ".nexus/history.json"),
      JSON.stringify({ cycles: Array.from({ length: n }, (_, i) => cycle(i + 1)) }),
    );
  });
}

/** An event as Claude Code tells it. */
export const event = (name: string, cwd: string, more: object = {}): string =>
  JSON.stringify({ session_id: "s", cwd, hook_event_name: name, ...more });

/** A repository whose sessions are watched: hooks leave projects alone that nexus does not know. */
export const watched = (n: number): string => {
  const dir = repository(n);
  mkdirSync(join(dir, ".nexus"), { recursive: true });
  return dir;
};

const agents = new Map<string, number>();
const about = (cwd: string) => ({
  ...{ agent_id: `a${agents.get(cwd) ?? 0}`, agent_type: "reviewer", last_assistant_message: "VERDICT: pass" },
});
const fire = (name: string, cwd: string): void =>
  must("hook", ["claude"], { cwd, input: event(name, cwd, about(cwd)) });

/** A reviewer, who may not edit, is about to start: the one before it has ended, and one was there at least. */
export function nextStart(cwd: string): string {
  if (!agents.has(cwd)) fire("SubagentStart", cwd);
  fire("SubagentStop", cwd);
  agents.set(cwd, (agents.get(cwd) ?? 0) + 1);
  return event("SubagentStart", cwd, about(cwd));
}

/** The same who is about to end. */
export function nextEnd(cwd: string): string {
  must("hook", ["claude"], { cwd, input: nextStart(cwd) });
  return event("SubagentStop", cwd, about(cwd));
}

/** A project with a run that waits for an answer, made anew; `lines` of its journal say that it waited. */
export function paused(files: number, lines: number): string {
  const made = once(join(work, `paused-${files}`), (dir) => {
    mkdirSync(dir);
    const words = [
      "run",
      bundle("files", files),
      "--driver",
      "command",
      "--command",
      "false",
      "--plan",
      "work",
      "--quiet",
    ];
    must("nexus", words, { cwd: dir });
  });
  const dir = fresh("resumed");
  cpSync(made, dir, { recursive: true });
  const runs = join(dir, ".nexus/state/nutcracker/runs");
  if (lines > 0) appendWaiting(new Journal(join(runs, readdirSync(runs)[0]!, "journal.jsonl")), lines);
  return dir;
}

const RUN = "20260101-000000-000001";

export function fillJournal(path: string, n: number): void {
  const journal = new Journal(path);
  const at = "2026-01-01T00:00:00.000Z";
  journal.append({ at, type: "created", version: RUN_VERSION, run: RUN });
  journal.append({ at, type: "opened", digest: `sha256:${"0".repeat(64)}`, base: `sha256:${"1".repeat(64)}` });
  appendWaiting(journal, n);
}

function appendWaiting(journal: Journal, n: number): void {
  const at = "2026-01-01T00:00:00.000Z";
  const waiting = { at, type: "waiting", program: "p", trouble: "limit", message: "m", ms: 1 } as const;
  for (let i = 0; i < n; i += 1) journal.append(waiting);
  journal.close();
}

/** A plan with so many issues. */
export function issues(n: number): string {
  return once(join(work, `issues-${n}`), (dir) => {
    const list = Array.from({ length: n }, (_, i) => ({ id: i + 1, title: `issue ${i}`, status: "pending" }));
    const plan = { id: 1, topic: "t", issues: list, research_summary: "r", created_at: "2026-01-01T00:00:00Z" };
    put(join(dir, ".nexus/state/plan.json"), JSON.stringify(plan));
  });
}

export const remove = (): void => rmSync(work, { recursive: true, force: true });
