// What was found out, kept line by line, so that a run that was stopped goes on where it was.
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Breakage } from "./lists.js";

export type Outcome = "caught" | "survived" | "could not apply" | "broken before";

export interface Result {
  readonly id: string;
  readonly outcome: Outcome;
  /** The test that failed, or why there is no answer. */
  readonly by?: string;
  readonly ms: number;
}

export class Results {
  readonly #path: string;
  readonly #root: string;
  readonly #known = new Map<string, Result>();

  constructor(path: string, root: string) {
    this.#path = path;
    this.#root = root;
    const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
    for (const line of lines) {
      const kept = readLine(line);
      if (kept !== null) this.#known.set(kept.key, kept.result);
    }
  }

  of(breakage: Breakage): Result | undefined {
    return this.#known.get(this.#keyOf(breakage));
  }

  /** Only answers are kept: a breakage that could not be tried is tried again. */
  keep(breakage: Breakage, result: Result): void {
    if (result.outcome !== "caught" && result.outcome !== "survived") return;
    const key = this.#keyOf(breakage);
    this.#known.set(key, result);
    mkdirSync(dirname(this.#path), { recursive: true });
    appendFileSync(this.#path, `${JSON.stringify({ key, result })}\n`);
  }

  #keyOf(breakage: Breakage): string {
    const digest = createHash("sha256").update(JSON.stringify(breakage));
    for (const name of [breakage.file, ...breakage.tests]) {
      const path = join(this.#root, name);
      digest.update("\0").update(existsSync(path) ? readFileSync(path) : "");
    }
    return digest.digest("hex");
  }
}

/** null for a line that was cut while it was being written. */
function readLine(line: string): { key: string; result: Result } | null {
  try {
    return JSON.parse(line) as { key: string; result: Result };
  } catch {
    return null;
  }
}
