// What a reader makes of somebody else's task: the files of a request, how it is checked, and what did not come along.
import type { Criterion } from "../schema/criteria.js";
import type { RoomPlaces } from "../schema/places.js";

export const IMPORT_KINDS = [
  "exercism",
  "harbor",
  "terminal-bench",
  "github-issue",
  "spec-kit",
  "openspec",
  "swebench",
] as const;
export type ImportKind = (typeof IMPORT_KINDS)[number];

export interface TaskFile {
  readonly data: Uint8Array;
  readonly executable: boolean;
}
export type TaskFiles = ReadonlyMap<string, TaskFile>;

/** Something of the original that is not in the request, or is there otherwise than it was. */
export interface LeftOut {
  readonly what: string;
  readonly why: string;
}

export interface Licence {
  /** As SPDX names it; null when a text was found that nobody recognises. */
  readonly name: string | null;
  /** Where its text stands in the request; null when only its name is known. */
  readonly file: string | null;
}

/** The example solution. It is never part of the request. */
export interface Oracle {
  /** Laid over the tree, by path in the request. */
  readonly files: TaskFiles;
  /** Run at the root of the tree instead, or after the files are there. */
  readonly script: TaskFile | null;
}

/** As `acceptance.install` has it (docs/install.md). */
export interface InstallEntry {
  readonly path: string;
  readonly reads?: string[];
  readonly network?: boolean;
}

export interface ImportedTask {
  readonly kind: ImportKind;
  /** A folder's name. */
  readonly name: string;
  readonly title: string;
  readonly summary: string;
  /** Programming language, where there is one. */
  readonly language: string | null;
  /** Everything but the manifest and the criteria. */
  readonly files: TaskFiles;
  readonly criteria: readonly Criterion[];
  /** Paths that only whoever verifies should see; they are among the files, and no worker needs them. */
  readonly hidden: readonly string[];
  readonly install: readonly InstallEntry[];
  /** Absolute names the tree is known by: `/app`. */
  readonly places?: RoomPlaces;
  readonly checklist: readonly string[];
  readonly constraints: readonly string[];
  readonly skills: readonly string[];
  readonly domains: readonly string[];
  readonly additional: readonly string[];
  readonly oracle: Oracle | null;
  readonly licence: Licence | null;
  readonly authors: readonly string[];
  readonly url: string | null;
  /** The repository and commit the work starts from, when the request does not hold it. */
  readonly base?: { readonly repository: string; readonly commit: string };
  readonly leftOut: readonly LeftOut[];
}

export const textFile = (text: string, executable = false): TaskFile => ({
  data: Buffer.from(text, "utf8"),
  executable,
});
