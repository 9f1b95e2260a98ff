// A run as its folder tells it, for whoever wants it as a trace.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { currentProgram, type RunFolder, readJournal } from "../../../run/index.js";
import type { RunOptions } from "../../../schema/run.js";
import type { LogLine, TraceInput } from "../../../traces/index.js";

export function traceOf(folder: RunFolder, options: RunOptions, content: boolean): TraceInput {
  const { driver, model } = currentProgram(folder, options);
  return {
    run: folder.id,
    title: options.title,
    requestId: options.request_id,
    driver,
    ...(model === undefined ? {} : { model }),
    records: readJournal(folder.journal),
    logOf: (agent) => linesOf(join(folder.agents, agent, "log.jsonl")),
    content,
  };
}

export const promptIn = (folder: RunFolder) => (agent: string) => textOf(join(folder.agents, agent, "prompt.md"));

const textOf = (path: string) => (existsSync(path) ? readFileSync(path, "utf8") : "");

/** A line that a kill cut short tells nothing. */
function linesOf(path: string): LogLine[] {
  return textOf(path)
    .split("\n")
    .flatMap((line) => {
      try {
        const value: unknown = JSON.parse(line);
        return isLine(value) ? [value] : [];
      } catch {
        return [];
      }
    });
}

const isLine = (value: unknown): value is LogLine =>
  typeof value === "object" && value !== null && "at" in value && "type" in value;
