// What a Dockerfile says about files, without building anything: where the work lies, what is copied there, what is set. RUN
// lines are only listed.
import { posix } from "node:path";

export interface Dockerfile {
  readonly from: readonly string[];
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  /** Sources in the context, and an absolute target. */
  readonly copies: readonly {
    readonly sources: readonly string[];
    readonly target: string;
    readonly isFolder: boolean;
  }[];
  /** Instructions that are not carried out, as they stand. */
  readonly unread: readonly string[];
}

/** Images of terminal-bench work in /app. */
const OWN_IMAGES = /laude-institute\/t-bench\//;

export function readDockerfile(text: string): Dockerfile {
  const from: string[] = [];
  const env: Record<string, string> = {};
  const copies: Dockerfile["copies"][number][] = [];
  const unread: string[] = [];
  let workdir = "/";
  for (const line of logicalLines(text)) {
    const [, word = "", rest = ""] = /^(\w+)\s+([\s\S]*)$/.exec(line) ?? [];
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
      case "ADD": {
        const copy = copied(rest, workdir);
        if (copy === null) unread.push(line);
        else copies.push(copy);
        break;
      }
      default:
        if (word !== "") unread.push(line);
    }
  }
  return { from, workdir, env, copies, unread };
}

/** Continued lines as one; comments and documents in between are gone. */
function logicalLines(text: string): string[] {
  const kept = text.split("\n").filter((line) => !/^\s*#/.test(line));
  return kept
    .join("\n")
    .replaceAll(/\\\s*\n/g, " ")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

const unquoted = (word: string): string => /^(["'])(.*)\1$/.exec(word)?.[2] ?? word;

function variables(rest: string): [string, string][] {
  const pairs = [...rest.matchAll(/([A-Za-z_]\w*)=("[^"]*"|'[^']*'|\S*)/g)];
  if (pairs.length > 0) return pairs.map(([, key, value]) => [key!, unquoted(value!)]);
  const [, key, value] = /^(\w+)\s+(.*)$/.exec(rest) ?? [];
  return key === undefined ? [] : [[key, unquoted(value!)]];
}

function copied(rest: string, workdir: string): Dockerfile["copies"][number] | null {
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
  return {
    sources: plain,
    target: posix.resolve(workdir, target),
    isFolder: /\/$|^\.$|^\.\/$/.test(target) || plain.length > 1,
  };
}

function jsonWords(text: string): string[] {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.filter((word): word is string => typeof word === "string") : [];
  } catch {
    return [];
  }
}
