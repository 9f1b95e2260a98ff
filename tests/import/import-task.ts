// A task of ours through `nutshell import`, and its example or nobody's work through `nutshell accept`.
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runNutshell } from "../cli/run-nutshell.js";
import { temporary } from "../temporary.js";
import { EXERCISES, type ExerciseName, writeTask } from "./own-tasks.js";

export interface Task {
  readonly path: string;
  readonly oracle: string | null;
  readonly licence: string | null;
  readonly licence_file: string | null;
  readonly criteria: number;
  readonly not_carried_over: readonly { what: string; why: string }[];
}

export const home = () => {
  const cwd = temporary("import-");
  // The toolchains of a home stay where they are; what we note down does not go there.
  const own = ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"];
  const env = {
    HOME: process.env.HOME ?? cwd,
    ...Object.fromEntries(own.map((name) => [name, join(cwd, ".own", name)])),
  };
  return { cwd, env };
};

export async function imported(name: ExerciseName, more: (folder: string) => void = () => {}) {
  const { cwd, env } = home();
  more(writeTask(join(cwd, name), EXERCISES[name]));
  const run = await runNutshell(["import", "exercism", name, "-o", "task", "--oracle", "oracle", "--json"], {
    cwd,
    env,
  });
  if (run.code !== 0) throw new Error(run.err);
  const [task] = (JSON.parse(run.out) as { tasks: Task[] }).tasks;
  const text = (path: string) => readFileSync(join(cwd, "task", path), "utf8");
  const criteria = (JSON.parse(text("tests/criteria.json")) as { criteria: Record<string, unknown>[] }).criteria;
  return { cwd, env, task: task!, text, criteria };
}

/** The verdict, with what was said where it is another than expected. */
export async function verdictOf(name: ExerciseName, mode: "oracle" | "noop", expected: string): Promise<string> {
  const { cwd, env } = await imported(name);
  cpSync(join(cwd, "task"), join(cwd, mode), { recursive: true });
  if (mode === "oracle") cpSync(join(cwd, "oracle/files"), join(cwd, mode), { recursive: true });
  const words = ["accept", mode, "--request", "task", "--json", "--yes", "--trials", "1"];
  const { out, err } = await runNutshell(words, { cwd, env });
  if (out === "") return err;
  const { verdict, results } = JSON.parse(out) as { verdict: string; results: { reason?: string; output: string }[] };
  return verdict === expected
    ? verdict
    : `${verdict}: ${results.map(({ reason, output }) => `${reason}\n${output}`).join("\n")}`;
}
