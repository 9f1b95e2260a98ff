// The very sessions of a run, replayed bare: the program's own command line, environment, standard input, home and tree as the
// run gave them, started directly, without nexus and without a sandbox. They are noted by a stand-in that lies on PATH under the
// program's name: it tells the bench what it was started with, then starts the program. That run is not timed.
// Nothing a replay gets is slower than what the run gives: its tool server begins ahead of the program, as in a run, the
// same few lines pass on to it, and what the run keeps in memory (a sandbox's /tmp) is in memory.
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Started } from "../src/drivers/codex-launcher.js";
import { nexusProgram } from "../src/run/agents/programs.js";
import { openToolLine } from "../src/run/agents/tool-line.js";
import { TOOL_SOCKET } from "../src/schema/tools.js";

/** Paths below a folder, and what is in them as base64. */
type Files = Readonly<Record<string, string>>;

/** What a program was started with. */
export interface NotedSession {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly input: string;
  readonly home: Files;
  readonly tree: Files;
}

export interface Notes {
  /** Put this first on PATH. */
  readonly folder: string;
  readonly sessions: NotedSession[];
  close(): Promise<void>;
}

/** What lies on PATH in the program's place. Whoever only asks for the version is nobody's session. */
const standIn = (program: string, url: string) => `#!${process.execPath}
const { spawnSync } = require("node:child_process");
const { readFileSync, readdirSync } = require("node:fs");
const { join } = require("node:path");
const args = process.argv.slice(2);
const files = (folder) =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
      .map((path) => [path.slice(folder.length + 1), readFileSync(path, "base64")]),
  );
const start = (input) => spawnSync(${JSON.stringify(program)}, args, { input, stdio: [input === undefined ? "inherit" : "pipe", "inherit", "inherit"] });
(async () => {
  if (args.includes("--version")) process.exit(start().status ?? 1);
  const input = readFileSync(0, "utf8");
  const { HOME } = process.env;
  const noted = { args, cwd: process.cwd(), env: process.env, input, home: files(HOME), tree: files(process.cwd()) };
  await fetch(${JSON.stringify(url)}, { method: "POST", body: JSON.stringify(noted) });
  process.exit(start(input).status ?? 1);
})();
`;

export async function noteSessions(name: string, program: string, folder: string): Promise<Notes> {
  const sessions: NotedSession[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (data: string) => (body += data));
    request.on("end", () => {
      sessions.push(JSON.parse(body) as NotedSession);
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const place = join(folder, "stand-in");
  mkdirSync(place);
  writeFileSync(join(place, name), standIn(program, `http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  chmodSync(join(place, name), 0o755);
  return { folder: place, sessions, close: () => new Promise((resolve) => server.close(() => resolve())) };
}

/** A sandbox's temporary folder is in memory. */
const MEMORY = "/dev/shm";
/** In a run the tool server is started while the sandbox is put together. */
const HEAD_START_MS = 50;

/** Milliseconds from the program's start to its end. `names` says what of the noted run has another name now. */
export async function replay(
  program: Started,
  { args, cwd, env, input, home, tree }: NotedSession,
  names: ReadonlyMap<string, string>,
  folder: string,
): Promise<number> {
  const place = mkdtempSync(join(folder, "replay-"));
  const memory = mkdtempSync(join(MEMORY, "nut-bench-"));
  const line = await openToolLine({ tools: nexusProgram("mcp"), env: serverEnvironment(env), isExpected: true });
  try {
    const now = new Map([
      ...names,
      [env.HOME!, join(place, "home")],
      [cwd, join(place, "tree")],
      ["/tmp/codex", join(memory, "codex")],
    ]);
    const socket = socketIn(home, env);
    if (socket !== null) now.set(socket, line.socket);
    const renamed = (text: string) => [...now].reduce((all, [from, to]) => all.replaceAll(from, to), text);
    lay(join(place, "home"), home, renamed);
    lay(join(place, "tree"), tree, (text) => text);
    const own = Object.fromEntries(
      Object.entries({ ...env, ...program.env, TMPDIR: memory }).map(([key, value]) => [key, renamed(value)]),
    );
    await setTimeout(HEAD_START_MS);
    const { ms, code, out } = await timed(program.command, args.map(renamed), join(place, "tree"), own, input);
    if (code !== 0) throw new Error(`${program.command} replayed: exit ${code}: ${out.slice(-1_000)}`);
    return ms;
  } finally {
    await line.close();
    rmSync(memory, { recursive: true, force: true });
  }
}

/** Who the server answers, as the run told it. */
const serverEnvironment = (env: NotedSession["env"]): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter(([key]) => key === "PATH" || key.startsWith("NEXUS_")));

/** Where the run's own server was; programs are told in a file of their home or in a variable. */
function socketIn(home: Files, env: NotedSession["env"]): string | null {
  const files = Object.values(home).map((bytes) => Buffer.from(bytes, "base64").toString("utf8"));
  const texts = [...files, ...Object.values(env)];
  const told = new RegExp(`${TOOL_SOCKET}"?\\s*[:=]\\s*"([^"]+)"`);
  return texts.map((text) => told.exec(text)?.[1]).find((path) => path !== undefined) ?? null;
}

function lay(folder: string, files: Files, change: (text: string) => string): void {
  mkdirSync(folder);
  for (const [path, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), change(Buffer.from(bytes, "base64").toString("utf8")));
  }
}

export function timed(program: string, args: readonly string[], cwd: string, env: Record<string, string>, input = "") {
  const started = performance.now();
  return new Promise<{ ms: number; code: number | null; out: string }>((resolve) => {
    const child = spawn(program, args, { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
    let out = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (out += data));
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    child.on("close", (code) => resolve({ ms: performance.now() - started, code, out }));
  });
}
