import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { answerHook } from "../../src/hook/answer-hook.js";
import { readInput } from "../../src/hook/read-input.js";
import { findHost, type Host } from "../../src/hosts/index.js";
import { hostProcess } from "../../src/session/sessions.js";
import type { HostFace } from "../../src/session/surroundings.js";
import { temporary } from "../temporary.js";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const HOOK = join(ROOT, "dist/hook/hook.js");

/** A fresh project with a private home beside it, gone when the tests are. */
export function newProject(files: Readonly<Record<string, string>> = {}): { root: string; home: string } {
  const base = temporary("nut-hosts-");
  const root = join(base, "project");
  const home = join(base, "home");
  for (const folder of [join(root, ".git"), home]) mkdirSync(folder, { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return { root, home };
}

export interface HookResult {
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
}

export interface HookOptions {
  readonly host?: string;
  readonly event?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly keepOpen?: boolean;
  readonly home?: string;
  /** Another copy of the hook. */
  readonly hook?: string;
  /** The user to run as, for tests that are run by root. */
  readonly uid?: number;
  readonly onStart?: (child: ChildProcess) => void;
}

/** The home beside the project a payload is about, or one for nobody else. */
function homeFor(payload: string | Uint8Array | object): string {
  const { cwd } = typeof payload === "object" ? (payload as { cwd?: string }) : {};
  const beside = cwd === undefined ? "" : join(cwd, "../home");
  if (cwd !== undefined && existsSync(beside)) return beside;
  return temporary("nut-home-");
}

/** Runs the real hook process, as a host would: payload on stdin, small environment. */
export function runHook(payload: string | Uint8Array | object, options: HookOptions = {}): Promise<HookResult> {
  const { host = "claude", event, env = {}, cwd = tmpdir(), keepOpen = false, hook = HOOK } = options;
  const { home = homeFor(payload) } = options;
  const started = performance.now();
  const child = spawn(process.execPath, [hook, host, ...(event === undefined ? [] : [event])], {
    cwd,
    env: { PATH: process.env.PATH ?? "", HOME: home, ...env },
    ...(options.uid === undefined ? {} : { uid: options.uid }),
  });
  options.onStart?.(child);
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (data) => (stdout += data));
  child.stderr.on("data", (data) => (stderr += data));
  child.stdin.on("error", () => {});
  const bytes = typeof payload === "string" || payload instanceof Uint8Array ? payload : JSON.stringify(payload);
  if (keepOpen) child.stdin.write(bytes);
  else child.stdin.end(bytes);
  return new Promise((resolve) => {
    child.on("close", (exit) => resolve({ exit, stdout, stderr, ms: performance.now() - started }));
  });
}

/**
 * The same answer in this process, which takes a twentieth of the time; this process is the host. What ends a process, feeds
 * it or starts it otherwise is for `runHook`.
 */
export async function askHook(payload: string | Uint8Array | object, options: HookOptions = {}): Promise<HookResult> {
  const { host: name = "claude", event, cwd, keepOpen, hook, uid, onStart } = options;
  const host = findHost(name);
  if (host === null || [cwd, keepOpen, hook, uid, onStart].some((own) => own !== undefined))
    return runHook(payload, options);
  const env = { PATH: process.env.PATH ?? "", HOME: options.home ?? homeFor(payload), ...options.env };
  const started = performance.now();
  const text = typeof payload === "string" || payload instanceof Uint8Array ? payload : JSON.stringify(payload);
  const prepare = (tree: string, start: typeof spawn) =>
    start(process.execPath, [HOOK, name, "remember"], { cwd: tree, env, detached: true, stdio: "ignore" }).unref();
  const around = { env, now: () => new Date(), process: () => hostProcess(process.pid), prepare };
  const answer = await answerHook(host, await readInput(Readable.from([Buffer.from(text)])), around, event);
  return { ...answer, ms: performance.now() - started };
}

/** A host as the gate sees it. */
export const hostFace = ({ harnessId, settings }: Pick<Host, "harnessId" | "settings">): HostFace => ({
  harnessId,
  settings,
  toolNames: {},
  docs: {},
  canResume: false,
});

export const claudePayload = (root: string, event: string, fields: object = {}): object => ({
  session_id: "session-1",
  transcript_path: join(root, "transcript.jsonl"),
  cwd: root,
  hook_event_name: event,
  ...fields,
});
