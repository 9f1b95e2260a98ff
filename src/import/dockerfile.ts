// What a Dockerfile says about files, without building anything: where the work lies, what is copied or written there, what is
// set. Of RUN lines only those are followed that do nothing but make folders, remove files and set run bits; others are listed.
import { posix } from "node:path";

/** What happens to files, in order. Targets are absolute. */
export type FileStep =
  | { readonly type: "copy"; readonly sources: readonly string[]; readonly target: string; readonly isFolder: boolean }
  | { readonly type: "write"; readonly target: string; readonly text: string }
  | { readonly type: "folder" | "remove" | "run-bit"; readonly target: string };

export interface Dockerfile {
  readonly from: readonly string[];
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly steps: readonly FileStep[];
  /** Instructions that are not carried out, as they stand. */
  readonly unread: readonly string[];
}

/** Images of terminal-bench work in /app. */
const OWN_IMAGES = /laude-institute\/t-bench\//;

export function readDockerfile(text: string): Dockerfile {
  const from: string[] = [];
  const env: Record<string, string> = {};
  const steps: FileStep[] = [];
  const unread: string[] = [];
  let workdir = "/";
  for (const { line, documents } of instructions(text)) {
    const [, word = "", rest = ""] = /^(\w+)\s+([\s\S]*)$/.exec(line) ?? [];
    const follow = (found: readonly FileStep[] | null) => {
      if (found === null) unread.push(line);
      else steps.push(...found);
    };
    switch (word.toUpperCase()) {
      case "FROM":
        from.push(rest.replace(/^--\S+\s+/, "").split(/\s+/)[0]!);
        if (OWN_IMAGES.test(rest)) workdir = "/app";
        break;
      case "WORKDIR":
        workdir = posix.resolve(workdir, unquoted(rest.trim()));
        break;
      case "ENV":
        for (const [key, value] of variables(rest)) env[key] = value;
        break;
      case "COPY":
      case "ADD":
        follow(documents.length > 0 ? written(rest, documents, workdir) : copied(rest, workdir));
        break;
      case "RUN":
        follow(documents.length > 0 ? null : fileCommands(rest, workdir));
        break;
      default:
        if (word !== "") unread.push(line);
    }
  }
  return { from, workdir, env, steps, unread };
}

interface Instruction {
  readonly line: string;
  /** What stands below it up to the words it names. */
  readonly documents: readonly Here[];
}

interface Here {
  readonly text: string;
  /** Docker puts variables into it. */
  readonly expands: boolean;
}

/** Continued lines as one, without comments in between; documents with the instruction they belong to. */
function instructions(text: string): Instruction[] {
  const lines = text.split("\n");
  const found: Instruction[] = [];
  let at = 0;
  while (at < lines.length) {
    let line = "";
    let goesOn = true;
    while (goesOn && at < lines.length) {
      const next = lines[at]!;
      at += 1;
      if (/^\s*#/.test(next) || (line !== "" && next.trim() === "")) continue;
      goesOn = /\\\s*$/.test(next);
      line += goesOn ? `${next.replace(/\\\s*$/, "")} ` : next;
    }
    const documents: Here[] = [];
    for (const [, dash, quote, end] of /^\s*(?:COPY|ADD|RUN)\s/i.test(line) ? line.matchAll(HERE) : []) {
      const close = lines.findIndex((each, index) => index >= at && (dash === "" ? each : each.trimStart()) === end);
      if (close < 0) break;
      const body = lines.slice(at, close).map((each) => (dash === "" ? each : each.replace(/^\t+/, "")));
      documents.push({ text: body.map((each) => `${each}\n`).join(""), expands: quote === "" });
      at = close + 1;
    }
    if (line.trim() !== "") found.push({ line: line.trim(), documents });
  }
  return found;
}

const HERE = /<<(-?)(["']?)(\w+)\2/g;

const unquoted = (word: string): string => /^(["'])(.*)\1$/.exec(word)?.[2] ?? word;

function variables(rest: string): [string, string][] {
  const pairs = [...rest.matchAll(/([A-Za-z_]\w*)=("[^"]*"|'[^']*'|\S*)/g)];
  if (pairs.length > 0) return pairs.map(([, key, value]) => [key!, unquoted(value!)]);
  const [, key, value] = /^(\w+)\s+(.*)$/.exec(rest) ?? [];
  return key === undefined ? [] : [[key, unquoted(value!)]];
}

function copied(rest: string, workdir: string): FileStep[] | null {
  if (/^--from=|<<|\$|https?:/.test(rest)) return null;
  const words = rest.trimStart().startsWith("[")
    ? jsonWords(rest)
    : rest
        .split(/\s+/)
        .filter((word) => word !== "")
        .map(unquoted);
  const plain = words.filter((word) => !word.startsWith("--"));
  const target = plain.pop();
  if (target === undefined || plain.length === 0) return null;
  const isFolder = /\/$|^\.$|^\.\/$/.test(target) || plain.length > 1;
  return [{ type: "copy", sources: plain, target: posix.resolve(workdir, target), isFolder }];
}

/** `COPY <<END /app/a.txt`: one document, whose text Docker leaves as it is. */
function written(rest: string, documents: readonly Here[], workdir: string): FileStep[] | null {
  const [, target] = /^<<-?(["']?)\w+\1\s+(\S+)$/.exec(rest.trim())?.slice(1) ?? [];
  const [here, ...more] = documents;
  if (target === undefined || target.endsWith("/") || /["'$]/.test(target) || more.length > 0) return null;
  if (here!.expands && /[$\\]/.test(here!.text)) return null;
  return [{ type: "write", target: posix.resolve(workdir, target), text: here!.text }];
}

const COMMANDS: readonly (readonly [RegExp, "folder" | "remove" | "run-bit"])[] = [
  [/^mkdir(?:\s+-p)?\s+(.+)$/, "folder"],
  [/^rm(?:\s+-(?:f|r|rf|fr))?\s+(.+)$/, "remove"],
  [/^chmod\s+(?:[au]?\+x|0?[0-7]?[75][0-7]{2})\s+(.+)$/, "run-bit"],
];

/** null when any part of the line does anything else. */
function fileCommands(rest: string, workdir: string): FileStep[] | null {
  const steps: FileStep[] = [];
  for (const part of rest.split("&&").map((each) => each.trim())) {
    const [form, type] = COMMANDS.find(([each]) => each.test(part)) ?? [];
    const words = form === undefined ? [] : part.replace(form, "$1").split(/\s+/);
    if (type === undefined || !words.every((word) => PLAIN_PATH.test(word))) return null;
    steps.push(...words.map((word) => ({ type, target: posix.resolve(workdir, word) })));
  }
  return steps;
}

/** Nothing in it that a shell would make something else of. */
const PLAIN_PATH = /^[\w./][\w./+@-]*$/;

function jsonWords(text: string): string[] {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.filter((word): word is string => typeof word === "string") : [];
  } catch {
    return [];
  }
}
