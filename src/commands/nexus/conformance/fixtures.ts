// Finding and reading fixture files. A broken file is an authoring mistake: it is refused, never skipped.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { findCoreFolder } from "../../../catalog/index.js";
import { fromSystemError, NutError } from "../../../errors.js";
import { Fixture } from "../../../schema/fixture.js";
import { mismatchLine } from "../../../schema/mismatch.js";

export interface LoadedFixture {
  readonly file: string;
  readonly fixture: Fixture;
}

const FOLDERS = new Set(["tools", "scenarios", "lifecycle"]);

/** The suite that came with nexus. */
export function ownFixtures(): string {
  return join(findCoreFolder(), "conformance");
}

/** Every fixture in the tools, scenarios and lifecycle folders below `from`; or the JSON files right in it; or one file. */
export function loadFixtures(from: string): LoadedFixture[] {
  const files = fixtureFiles(from);
  if (files.length === 0) {
    throw new NutError("FIXTURE_INVALID", `${from} holds no fixtures`, {
      hint: "give a folder that has tools, scenarios or lifecycle in it",
      data: { path: from },
    });
  }
  return files.flatMap((file) =>
    readFixtures(file).map((fixture) => ({ file: relative(from, file) || basename(file), fixture })),
  );
}

function fixtureFiles(from: string): string[] {
  let all: string[];
  try {
    if (statSync(from).isFile()) return [from];
    all = readdirSync(from, { recursive: true, encoding: "utf8" }).sort();
  } catch (error) {
    throw fromSystemError(error, from) ?? error;
  }
  const json = all.filter((name) => name.endsWith(".json")).map((name) => join(from, name));
  const filed = json.filter((file) => FOLDERS.has(basename(dirname(file))));
  return filed.length > 0 ? filed : json.filter((file) => dirname(file) === from);
}

function readFixtures(file: string): Fixture[] {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw fromSystemError(cause, file) ?? broken(file, "is not JSON", cause);
  }
  return (Array.isArray(value) ? value : [value]).map((one, index) => {
    const parsed = Fixture.safeParse(one);
    if (parsed.success) return parsed.data;
    const id = typeof one?.test_id === "string" ? one.test_id : `fixture ${index + 1}`;
    throw broken(file, `${id}: ${mismatchLine(parsed.error.issues[0]!)}`);
  });
}

export function broken(file: string, what: string, cause?: unknown): NutError {
  return new NutError("FIXTURE_INVALID", `${file}: ${what}`, {
    hint: "nexus conformance --help",
    data: { path: file },
    cause,
  });
}
