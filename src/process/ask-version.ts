import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Environment } from "./find-program.js";
import { runChild } from "./run-child.js";

const VERSION_MS = 20_000;

export interface VersionQuestion {
  readonly path: string;
  readonly args?: readonly string[];
  readonly env: Environment;
  readonly signal?: AbortSignal;
}

/**
 * What a program says about its version; null when it does not start or ends badly. Programs make folders and write logs
 * even then, so it is asked in a folder that is its home and its temporary folder, and is gone afterwards.
 */
export async function askVersion({ path, args = ["--version"], env, signal }: VersionQuestion): Promise<string | null> {
  const folder = mkdtempSync(join(tmpdir(), "nexus-version-"));
  try {
    const { code, stdout } = await runChild({
      command: path,
      args,
      cwd: folder,
      env: { PATH: env.PATH, HOME: folder, TMPDIR: folder },
      timeoutMs: VERSION_MS,
      ...(signal === undefined ? {} : { signal }),
    });
    return code === 0 ? stdout.text.trim() : null;
  } catch {
    return null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The number in what a program says. */
export const versionIn = (text: string): string | null => /\d+\.\d+\.\d+/.exec(text)?.[0] ?? null;
