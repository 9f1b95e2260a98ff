// The tool log. A file of its own, because the gate writes it and must not load what else the state holds.
import { closeSync, fstatSync, mkdirSync, openSync, readSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ToolLogLine } from "../schema/tracker.js";
import type { Layout } from "./layout.js";

/** Appends one line in one write; starts on a fresh line when a killed writer left half of one. */
export function logTool(layout: Layout, line: ToolLogLine, hostLine?: Readonly<Record<string, unknown>>): void {
  appendLine(join(layout.state, "tool-log.jsonl"), line);
  if (hostLine !== undefined) appendLine(join(layout.own, "tool-log.extension.jsonl"), hostLine);
}

function appendLine(path: string, record: unknown): void {
  mkdirSync(dirname(path), { recursive: true });
  const file = openSync(path, "a+", 0o644);
  try {
    const { size } = fstatSync(file);
    const last = Buffer.alloc(1);
    const torn = size > 0 && readSync(file, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a;
    writeSync(file, `${torn ? "\n" : ""}${JSON.stringify(record)}\n`);
  } finally {
    closeSync(file);
  }
}
