// What the demo agent knows: context/demo-agent.json of a request. Real agents do not need it and are not told of it.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface ScriptedEdit {
  readonly path: string;
  /** Replaces this text, which must be there exactly once. */
  readonly find?: string;
  readonly replace?: string;
  /** Or writes the whole file. */
  readonly content?: string;
  readonly delete?: boolean;
}

export interface Try {
  readonly edits?: readonly ScriptedEdit[];
  readonly report?: string;
  readonly decisions?: readonly string[];
}

export interface DemoTask {
  readonly title: string;
  readonly context?: string;
  readonly approach?: string;
  readonly acceptance?: string;
  readonly owner?: string;
  readonly deps?: readonly number[];
}

export interface DemoScript {
  readonly plan?: {
    readonly issues?: readonly { readonly title: string; readonly decision: string }[];
    readonly tasks: readonly DemoTask[];
  };
  /** By task title; the second try is used once there is a diagnosis. */
  readonly work?: Readonly<Record<string, readonly Try[]>>;
  readonly diagnosis?: Readonly<Record<string, string>>;
  /** One per checklist item: the item holds when the file holds the text. */
  readonly review?: readonly { readonly file: string; readonly contains: string }[];
}

export const DEMO_SCRIPT = "context/demo-agent.json";

export function readScript(cwd: string): DemoScript | null {
  const path = join(cwd, DEMO_SCRIPT);
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as DemoScript) : null;
}

export interface HandOver {
  readonly title: string;
  /** Of the failed task, when this is a diagnosis. */
  readonly failedTitle: string | null;
  readonly diagnosed: boolean;
  readonly checklist: readonly string[];
  readonly complaints: readonly string[];
}

/** Reads the hand-over as any agent would. */
export function readHandOver(prompt: string): HandOver {
  const title = /^TASK: (.+)$/m.exec(prompt)?.[1] ?? "";
  return {
    title,
    failedTitle: /^Find out why "(.+)" failed$/.exec(title)?.[1] ?? null,
    diagnosed: /^DIAGNOSIS:$/m.test(prompt),
    checklist: rows(prompt, "CHECKLIST", /^\d+\. (.+)$/),
    complaints: rows(prompt, "WHAT THE CHECK SAYS", /^- (.+)$/),
  };
}

function rows(prompt: string, title: string, pattern: RegExp): string[] {
  const start = prompt.indexOf(`\n${title}:\n`);
  if (start < 0) return [];
  const lines: string[] = [];
  for (const line of prompt.slice(start).split("\n").slice(2)) {
    if (line.startsWith("<<<DATA")) continue;
    const row = pattern.exec(line);
    if (row === null) break;
    lines.push(row[1]!);
  }
  return lines;
}
