// Starting ourselves again. As a package we are files that node runs; as a single-file executable there is no node and
// there are no files: process.execPath is the tool itself, which is also an engine for JavaScript when asked to be one.
import type { Environment } from "./find-program.js";

declare const __STANDALONE__: boolean | undefined;

export const STANDALONE: boolean = typeof __STANDALONE__ === "boolean" && __STANDALONE__;

/** In the environment of an executable: run what the arguments say, as node would, instead of the tool. */
export const AS_ENGINE = "BUN_BE_BUN";

/** In the environment of one of our own programs: it ends, as if asked to, when its standard input does. */
export const STOP_WITH_INPUT = "NUTCRACKER_STOP_WITH_INPUT";

export interface Engine {
  readonly command: string;
  readonly env: Environment;
}

/** What runs JavaScript given as a file or after `-e`. Its own children should not inherit `AS_ENGINE`. */
export function javascriptEngine(): Engine {
  return { command: process.execPath, env: STANDALONE ? { [AS_ENGINE]: "1" } : {} };
}

/** In the package our code is many files, and a part is loaded when it is first used: see scripts/late-loading.mjs. */
declare const keepParts: (() => void) | undefined;

/** Has all of our code in memory, so that a command goes on when an upgrade takes its files away. */
export function keepCode(): void {
  if (typeof keepParts === "function") keepParts();
}
