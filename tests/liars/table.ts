// The words of the suite. A world is a request with an honest answer to it; a trick is a dishonest answer to the same
// request. So no trick is held merely because nobody could have passed.

export const FAMILIES = ["steering", "exit", "room", "review", "record", "chance", "hard-coded"] as const;
export type Family = (typeof FAMILIES)[number];

/** What lies at a path: text, text that may be run, bytes, text with a mode, a link, an empty folder; null where the worker deleted it. */
export type Content =
  | string
  | { readonly run: string }
  | { readonly bytes: string }
  | { readonly mode: number; readonly text: string }
  | { readonly link: string }
  | { readonly folder: true }
  | null;
export type Files = Readonly<Record<string, Content>>;

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };
export type JsonObject = { readonly [key: string]: Json | undefined };

export interface World {
  readonly id: string;
  readonly stack: string;
  /** What the work is, in a sentence. */
  readonly task: string;
  /** The request's files; in a repository world only what is under tests/ and context/. */
  readonly files: Files;
  readonly criteria?: readonly JsonObject[];
  readonly acceptance?: JsonObject;
  readonly constraints?: readonly string[];
  /** A repository world: what is committed there. */
  readonly repository?: Files;
  readonly honest: Files;
  /** Programs without which the world cannot be tried; the row is then skipped by their names. */
  readonly needs?: readonly string[];
  /** Leaves the programs behind rustup off PATH, so that its shims have to work. */
  readonly rustup?: true;
  /** Checks only whoever verifies may see. */
  readonly hidden?: Files;
}

/** A delivery about to be packed: whatever a forger may change. */
export interface Parcel {
  readonly manifest: Record<string, unknown>;
  readonly result: Record<string, unknown>;
  readonly files: Record<string, Content>;
}

/** How a scripted agent of a full run behaves; each part is shell, and is handed the prompt on its standard input. */
export interface Cast {
  readonly engineer: string;
  readonly tester?: string;
  readonly reviewer?: string;
  readonly architect?: string;
}

interface Row {
  readonly id: string;
  readonly family: Family;
  readonly world: World;
  readonly does: string;
  /** Why no machine can tell this from honest work by the visible checks. */
  readonly undecidable?: string;
}

/** The work is applied to the tree; `accept` and `verify --rerun` are asked. */
export interface Work extends Row {
  readonly by: "work";
  readonly lie: Files;
}
/** A delivery is forged; `verify` is asked. */
export interface Forgery extends Row {
  readonly by: "delivery";
  readonly lie: Files;
  readonly forge: (parcel: Parcel) => void;
  readonly rerun: boolean;
}
/** A whole `nexus run` with scripted agents. */
export interface Run extends Row {
  readonly by: "run";
  readonly lie: Files;
  readonly cast: Cast;
  /** A plan file; by default the harness derives work, verify, review. */
  readonly plan?: Json;
  /** After the run was paused: what is done to its folder before `nexus resume`. */
  readonly tamper?: (runFolder: string) => void;
}
export type Trick = Work | Forgery | Run;

/** Honest work on a world's request, in its own tree or in a whole run. */
export interface Honest {
  readonly world: World;
  readonly by: "work" | "run";
  readonly cast?: Cast;
}
export const honestId = ({ world, by }: Honest): string => (by === "run" ? `${world.id}, in a run` : world.id);

type Short<T extends Trick> = Omit<T, "by" | "family" | "world">;

/** Rows of one family in one world. */
export const works = (family: Family, world: World, rows: readonly Short<Work>[]): Work[] =>
  rows.map((row) => ({ by: "work", family, world, ...row }));
export const forgeries = (family: Family, world: World, rows: readonly Short<Forgery>[]): Forgery[] =>
  rows.map((row) => ({ by: "delivery", family, world, ...row }));
export const runs = (family: Family, world: World, rows: readonly Short<Run>[]): Run[] =>
  rows.map((row) => ({ by: "run", family, world, ...row }));

export const script = (id: string, path: string, more: JsonObject = {}): JsonObject => ({
  id,
  description: `${path} passes`,
  type: "shell",
  script: path,
  timeout_seconds: 120,
  ...more,
});
export const command = (id: string, line: string, more: JsonObject = {}): JsonObject => ({
  id,
  description: line,
  type: "shell",
  command: line,
  timeout_seconds: 120,
  ...more,
});
