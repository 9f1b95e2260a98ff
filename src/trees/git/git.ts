// Asking git. In a person's own repository it is asked as they would ask it, hooks aside; everywhere else without anybody's
// settings, so that no filter, hook or alias of a machine decides what a tree holds.
import { NutError, shellWord } from "../../errors.js";
import { type Environment, runChild } from "../../process/index.js";

export interface GitWorld {
  readonly env: Environment;
  readonly signal: AbortSignal;
}

export interface GitOptions {
  readonly cwd: string;
  readonly stdin?: string;
  /** Is given the answer piece by piece, which is then not kept. */
  readonly onOutput?: (piece: Buffer) => void;
  /** Exit codes that are an answer, not a failure. */
  readonly fine?: readonly number[];
}

export interface GitAnswer {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** Lists of paths may be long; more than this is no list anybody works with. */
const MAX_ANSWER_BYTES = 256 * 1024 ** 2;
/** What git says of a failure is short. */
const MAX_WORDS = 16 * 1024;

/** Where git would look instead of where it is told to. */
const PLACES = /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_|NAMESPACE|PREFIX|COMMON_DIR|.*PATHSPECS$)/;

/** The person's own environment and settings. No hook runs: a tree that was delivered could hold the hook. */
export function ownGit(args: readonly string[], options: GitOptions, { env, signal }: GitWorld): Promise<GitAnswer> {
  const kept = Object.fromEntries(Object.entries(env).filter(([name]) => !PLACES.test(name)));
  const quiet = { GIT_TERMINAL_PROMPT: "0", GIT_EDITOR: "true", GIT_PAGER: "cat", LC_ALL: "C" };
  return ask(["-c", "core.hooksPath=/dev/null", ...args], options, { env: { ...kept, ...quiet }, signal });
}

/** Nobody's settings: the same answer on every machine. */
export function bareGit(
  args: readonly string[],
  options: GitOptions & { readonly variables?: Environment },
  { env, signal }: GitWorld,
): Promise<GitAnswer> {
  const alone = {
    PATH: env.PATH,
    HOME: "/nonexistent",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    LC_ALL: "C",
    ...options.variables,
  };
  return ask(args, options, { env: alone, signal });
}

async function ask(args: readonly string[], options: GitOptions, { env, signal }: GitWorld): Promise<GitAnswer> {
  const { cwd, stdin, onOutput, fine = [0] } = options;
  const { code, stdout, stderr } = await runChild({
    command: "git",
    args,
    cwd,
    env,
    signal,
    timeoutMs: 600_000,
    ...(onOutput === undefined
      ? { maxOutputBytes: MAX_ANSWER_BYTES }
      : {
          maxOutputBytes: MAX_WORDS,
          onOutput: (piece: Buffer, stream: string) => (stream === "stdout" ? onOutput(piece) : undefined),
        }),
    ...(stdin === undefined ? {} : { stdin: { text: stdin } }),
  });
  signal.throwIfAborted();
  if (code !== null && fine.includes(code)) return { code, out: stdout.text, error: stderr.text };
  throw gitFailed(cwd, stderr.text);
}

export function gitFailed(cwd: string, words: string): NutError {
  const lines = words.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("hint:"));
  const said = lines.find((line) => /^(?:fatal|error):/.test(line)) ?? lines.at(-1) ?? "git failed";
  return new NutError("REPOSITORY_FAILED", `${cwd}: git says: ${said.replace(/^(?:fatal|error): /, "").trim()}`, {
    hint: `git -C ${shellWord(cwd)} status`,
    data: { path: cwd, said: words.slice(0, 2_000) },
  });
}

/** Lines or NUL-separated rows of an answer. */
export const rows = (text: string, separator = "\0"): string[] => text.split(separator).filter((row) => row !== "");
