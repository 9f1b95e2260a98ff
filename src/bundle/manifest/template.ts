// What `init` writes, and how `check` knows that nobody has filled it in yet.
import type { Manifest } from "../../schema/manifest.js";

export const PLACEHOLDER_TITLE = "(say what to do, in one line)";
export const PLACEHOLDER_SUMMARY = "(say why it is needed and what must be true when it is done)";
/** Stands in every document we outline; check calls a document that still holds it a draft. */
export const PLACEHOLDER_MARK = "<!-- nutshell:placeholder: replace this text, then delete this line -->";

/** In the outline of a delivery's result. */
export const PLACEHOLDER_RESULT = "(say what was done, and what was not)";

const OURS: ReadonlySet<string> = new Set([PLACEHOLDER_TITLE, PLACEHOLDER_SUMMARY, PLACEHOLDER_RESULT]);

/** What init wrote, a place to fill in (`<what to do>`, `[what to do]`) that was pasted as it stood, or a word that only promises one. */
export function isPlaceholder(text: string | undefined): boolean {
  const trimmed = text?.trim() ?? "";
  return (
    OURS.has(trimmed) ||
    /^(?:<[^<>]+>|\[[^[\]]+\])$/.test(trimmed) ||
    /^(?:to ?do|tbd|fixme|xxx|\?+|\.{3}|…)[.:!]*$/i.test(trimmed) ||
    // "TODO: write this", but not "TODO: write the parser".
    /^(?:to ?do|tbd|fixme|xxx)\s*[:.-]?\s*(?:add|complete|describe|do|document|explain|fill|finish|say|write)(?: in| out)? (?:it|this|these|that|more|here|later|details|requirements|the (?:details|requirements|rest|text))[.!]*$/i.test(
      trimmed,
    )
  );
}

/** Whether nobody could read anything: white space, and characters that have no width. */
export const isBlank = (text: string): boolean => /^[\s\p{Cf}\p{Cc}]*$/u.test(text);

/** What the scripts of our templates print until somebody writes them. */
const UNWRITTEN_SCRIPT = 'echo "write this check" >&2';

/** Nothing but blank lines, comments and a shebang: run, it does nothing, and always passes. */
export const isUnwritten = (script: string): boolean =>
  script.split("\n").every((line) => isBlank(line) || /^\s*(?:#|\/\/)/.test(line));

/** A line of a shell script that looks at nothing. */
const LOOKS_AT_NOTHING =
  /^(?:#.*|set [-+]\w+|:|true|(?:echo|printf)\s[^`$|&;<>()]*(?:>&2)?|(?:exit|return)(?:\s+\d+)?|false)$/;

/** How a shell script ends that looks at nothing; null for every other one. */
export function foregoneEnd(script: string): "always passes" | "always fails" | null {
  const lines = script.split("\n").map((line) => line.trim());
  const words = lines.filter((line) => line !== "");
  if (words.length === 0 || !words.every((line) => LOOKS_AT_NOTHING.test(line))) return null;
  const end = words.find((line) => /^(?:exit|return)\b/.test(line)) ?? words.findLast((line) => !line.startsWith("#"));
  return /^(?:exit|return)\s+0*[1-9]/.test(end ?? "") || end === "false" ? "always fails" : "always passes";
}

/** What a document says: nothing at all, headings and comments alone, words that only promise some, or something. */
export function documentWords(document: string): "nothing" | "headings" | "promises" | "something" {
  const lines = document.replace(/<!--[\s\S]*?-->/g, "").split("\n");
  const said = lines.filter((line) => !isBlank(line) && !/^#{1,6}(?:\s|$)/.test(line));
  if (said.length === 0) return isBlank(document) ? "nothing" : "headings";
  return said.every((line) => isPlaceholder(line.replace(/^\s*(?:[-*+]|\d+[.)])\s+/, ""))) ? "promises" : "something";
}

export const holdsPlaceholder = (document: string) =>
  document.includes(PLACEHOLDER_MARK) || document.includes(UNWRITTEN_SCRIPT);

export interface Beginning {
  readonly id: string;
  readonly createdAt: string;
  readonly tool: string;
  readonly publisher?: string | undefined;
  readonly title?: string | undefined;
  readonly summary?: string | undefined;
  readonly skills?: readonly string[] | undefined;
  readonly checklist?: readonly string[] | undefined;
}

/** A new request. The order of its keys is the order in which a person fills them in. */
export function newManifest(beginning: Beginning): Manifest {
  const { id, createdAt, tool, publisher, title, summary, skills = [], checklist = [] } = beginning;
  return {
    nutshell_version: "0.2.0",
    bundle_type: "request",
    id,
    created_at: createdAt,
    task: {
      title: title ?? PLACEHOLDER_TITLE,
      summary: summary ?? PLACEHOLDER_SUMMARY,
      priority: "medium",
    },
    tags: { skills_required: [...skills], domains: [] },
    publisher: publisher === undefined ? { tool } : { name: publisher, tool },
    context: { requirements: "context/requirements.md" },
    acceptance: { checklist: [...checklist] },
    harness: { execution_strategy: "incremental", constraints: [] },
    extensions: {},
  };
}

const OUTLINES: Readonly<Record<string, readonly string[]>> = {
  requirements: ["What must work, and how someone would notice that it does not", "What is out of scope"],
  architecture: ["The parts and what each is for", "What must not change"],
  references: ["Links and documents worth reading, and what each one answers"],
};

/** A document to fill in: a heading, the questions it should answer, and the mark that makes it a draft. */
export function outline(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1).replace(/\.[^.]*$/, "");
  const questions = Object.hasOwn(OUTLINES, name) ? OUTLINES[name]! : ["What the agent needs to know"];
  const heading = name.charAt(0).toUpperCase() + name.slice(1).replaceAll(/[-_]/g, " ");
  return [`# ${heading}`, "", PLACEHOLDER_MARK, "", ...questions.map((question) => `- ${question}`), ""].join("\n");
}
