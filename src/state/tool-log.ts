// The tool log. A file of its own, because the gate writes it and must not load what else the state holds.
import { closeSync, constants, fstatSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeFolder } from "../files/index.js";
import type { ToolLogLine } from "../schema/tracker.js";
import { assertInside, type Layout } from "./layout.js";

/** Appends one line in one write; starts on a fresh line when a killed writer left half of one. */
export function logTool(layout: Layout, line: ToolLogLine, hostLine?: Readonly<Record<string, unknown>>): void {
  assertInside(layout);
  appendLine(join(layout.state, "tool-log.jsonl"), line);
  if (hostLine !== undefined) appendLine(join(layout.own, "tool-log.extension.jsonl"), hostLine);
}

function appendLine(path: string, record: unknown): void {
  makeFolder(dirname(path));
  const file = openLog(path);
  try {
    const { size } = fstatSync(file);
    const last = Buffer.alloc(1);
    const torn = size > 0 && readSync(file, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a;
    writeSync(file, `${torn ? "\n" : ""}${JSON.stringify(record)}\n`);
  } finally {
    closeSync(file);
  }
}

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = constants;
const FLAGS = O_RDWR | O_APPEND | O_CREAT | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0);

/** A repository may bring a link under that name, and an agent may plant one: it gives way to a log of our own. */
function openLog(path: string): number {
  try {
    const file = openSync(path, FLAGS, 0o644);
    const stat = fstatSync(file);
    if (stat.isFile() && stat.nlink <= 1) return file;
    closeSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ELOOP") throw error;
  }
  rmSync(path, { force: true });
  return openSync(path, FLAGS | O_EXCL, 0o644);
}
