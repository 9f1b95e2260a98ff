// The examples of our own exercises, in every language whose tools are here.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { verdictOf } from "../import/import-task.js";
import type { ExerciseName } from "../import/own-tasks.js";

const has = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;

const LANGUAGES: readonly (readonly [ExerciseName, boolean])[] = [
  ["go-total", has("go", "version")],
  ["rust-total", has("cargo", "--version")],
  ["java-total", has("javac", "--version") && existsSync("/usr/share/java/junit-platform-console.jar")],
];

describe.runIf(has("bwrap", "--version"))("an example and nobody's work, language by language", () => {
  for (const [name, runs] of LANGUAGES) {
    it.runIf(runs)(
      `${name}: the example is completed, doing nothing is not`,
      async () => {
        expect(await verdictOf(name, "oracle", "passed")).toBe("passed");
        expect(await verdictOf(name, "noop", "failed")).toBe("failed");
      },
      600_000,
    );
  }
});
