// What every completeness check sees and how it reports.
import type { Finding } from "../../errors.js";
import type { Manifest } from "../../schema/manifest.js";
import { foregoneEnd, holdsPlaceholder, isUnwritten } from "../manifest/template.js";

/** A bundle as those who judge it see it: its manifest, and what is or would be packed. */
export interface Content {
  readonly manifest: Manifest;
  /** path → size in bytes, the manifest aside. */
  readonly files: ReadonlyMap<string, number>;
  /** What an ignore file leaves out; folders end in a slash. */
  readonly left: readonly string[];
  /** Only for paths in `files`. */
  readonly read: (path: string) => Promise<Uint8Array>;
}

export interface CompletenessOptions {
  readonly now: Date;
  /** How the folder is named in the commands that fix things; absent when it is the current one. */
  readonly dir?: string | undefined;
  /** Tokens that `context_budget_hint` is a share of. */
  readonly contextWindow?: number | undefined;
  /** Tokens of what an agent may read, when the caller has counted them already. */
  readonly contextTokens?: number | undefined;
}

/** A credential or deadline this near is worth a warning. Less than a week: what was just given a week is not near. */
export const SOON_MS = (7 * 24 - 1) * 60 * 60 * 1000;

/** What one check needs, and where it puts what it finds. */
export interface Report {
  readonly content: Content;
  /** Every folder that holds a file. */
  readonly folders: ReadonlySet<string>;
  readonly manifest: Manifest;
  readonly options: CompletenessOptions;
  readonly missing: (problem: Problem) => void;
  readonly warn: (problem: Problem) => void;
  readonly pass: (path: string, message: string) => void;
  /** A `nutshell` command on this folder, ready to paste. */
  readonly command: (words: string) => string;
  /** Opens a file of this folder for a person. */
  readonly edit: (path: string) => string;
}

/** A finding before it is known how severe it is. */
export type Problem = Omit<Finding, "severity">;

/** The code of what nobody has filled in yet. It makes a draft, which can be packed. */
export const PLACEHOLDER = "PLACEHOLDER";

/** Whoever wrote more than this wrote a script. */
const LARGEST_UNWRITTEN = 64 * 1024;

/** What can be said of a script without running it: that nobody wrote it, or how it always ends. */
export async function scriptWords(
  content: Content,
  path: string,
  size: number,
): Promise<"unwritten" | "always passes" | "always fails" | null> {
  if (size > LARGEST_UNWRITTEN) return null;
  const text = Buffer.from(await content.read(path)).toString("utf8");
  if (isUnwritten(text)) return "unwritten";
  // What our templates wrote is told as an outline.
  if (holdsPlaceholder(text)) return null;
  return /\.(?:sh|bash)$/.test(path) || /^#!.*\b(?:ba|da)?sh\b/.test(text) ? foregoneEnd(text) : null;
}
