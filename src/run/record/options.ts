// `run.json`: what a run was started with.
import { readFileSync } from "node:fs";
import { isSystemError } from "../../errors.js";
import { atomicWrite } from "../../files/index.js";
import { RUN_MIGRATIONS } from "../../schema/old/run.js";
import { RUN_VERSION, RunOptions } from "../../schema/run.js";
import { assertFile, damagedFile } from "./damaged-file.js";
import type { RunFolder } from "./folder.js";
import { versionOf } from "./version.js";

export function writeOptions({ options: path }: Pick<RunFolder, "options">, options: RunOptions): void {
  const file = RunOptions.parse({ version: RUN_VERSION, ...options });
  atomicWrite(path, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
}

/** Throws RUN_DAMAGED or RUN_NEWER. */
export function readOptions({ options: path }: Pick<RunFolder, "options">): RunOptions {
  let fields = readFields(path);
  const version = versionOf(fields.version, path, (why) => damagedFile(path, why));
  for (const { options } of RUN_MIGRATIONS.slice(version - 1)) fields = options(fields);
  const parsed = RunOptions.safeParse(fields);
  if (!parsed.success) throw damagedFile(path, `"${parsed.error.issues[0]!.path.join(".")}" is missing or wrong`);
  const { version: _, ...options } = parsed.data;
  return options;
}

function readFields(path: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  assertFile(path);
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    if (error instanceof SyntaxError) throw damagedFile(path, "it is not JSON");
    if (isSystemError(error) && error.code === "ENOENT") throw damagedFile(path, "it is gone");
    throw error;
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw damagedFile(path, "it does not say what the run was started with");
}
