// The real programs, started as a person starts them, and ended by their process id.
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { temporary } from "../temporary.js";

const bin = (program: string) => fileURLToPath(new URL(`../../bin/${program}.js`, import.meta.url));

export interface Served {
  /** The one-time link. */
  readonly link: string;
  readonly origin: string;
  readonly port: number;
  readonly child: ChildProcess;
  stderr(): string;
  /** Ends it and gives its exit status. */
  stop(): Promise<number | null>;
}

export interface ServeOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a program that prints a link; fails with what it said when it prints none. */
export async function start(
  program: "nutshell" | "nexus",
  args: readonly string[],
  options: ServeOptions = {},
): Promise<Served> {
  const child = spawn(process.execPath, [bin(program), ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: { PATH: process.env.PATH, HOME: temporary("nut-home-"), ...options.env },
  });
  let stdout = "";
  let stderr = "";
  child.stderr.on("data", (bytes: Buffer) => {
    stderr += bytes;
  });
  const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  const link = await new Promise<string>((resolve, reject) => {
    child.stdout.on("data", (bytes: Buffer) => {
      stdout += bytes;
      if (stdout.includes("\n")) resolve(stdout.split("\n")[0]!);
    });
    void ended.then((code) => reject(new Error(`exit ${code}: ${stderr}`)));
  });
  const { origin, port } = new URL(link);
  return {
    link,
    origin,
    port: Number(port),
    child,
    stderr: () => stderr,
    stop: () => {
      child.kill("SIGTERM");
      return ended;
    },
  };
}

export async function run(
  program: "nutshell" | "nexus",
  args: readonly string[],
  cwd?: string,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [bin(program), ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    ...(cwd === undefined ? {} : { cwd }),
    env: { PATH: process.env.PATH, HOME: temporary("nut-home-") },
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (bytes: Buffer) => {
    stdout += bytes;
  });
  child.stderr.on("data", (bytes: Buffer) => {
    stderr += bytes;
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, stdout, stderr };
}
