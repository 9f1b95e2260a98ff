// What the viewer's page is given. Plain types, shared with the browser: everything in here has been made safe to show
// (right types, bounded lengths), whatever the bundle held.
import type { Finding } from "../../errors.js";
import type { VerdictView } from "../verdict.js";

export interface Side {
  /** File or folder name as the person typed it. */
  readonly label: string;
  /** As it was typed, for commands to paste. */
  readonly path: string;
  readonly isFolder: boolean;
}

export interface Fact {
  readonly name: string;
  readonly value: string;
}

export interface Resource {
  readonly kind: "repository" | "document" | "image" | "link";
  /** An address, or for images a path in the bundle. */
  readonly target: string;
  readonly title: string;
}

export interface CredentialRow {
  readonly name: string;
  readonly type: string;
  readonly access: string;
  readonly rateLimit: string;
  readonly expiresAt: string;
  readonly state: "valid" | "soon" | "expired" | "no expiry" | "unreadable";
}

export interface DocumentRow {
  readonly path: string;
  readonly label: string;
}

/** What the manifest alone tells: shown at once, however large the bundle. */
export interface Head {
  readonly side: Side;
  readonly id: string;
  readonly kind: string;
  readonly formatVersion: string;
  readonly isNewer: boolean;
  readonly title: string;
  readonly summary: string;
  readonly priority: string;
  readonly effort: string;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly isExpired: boolean;
  readonly publisher: readonly Fact[];
  readonly tags: readonly { readonly name: string; readonly values: readonly string[] }[];
  readonly constraints: readonly string[];
  readonly harness: readonly Fact[];
  readonly resources: readonly Resource[];
  readonly documents: readonly DocumentRow[];
  readonly baseUrls: readonly Fact[];
  readonly apiAuth: string;
  readonly encryption: string;
  readonly hasVault: boolean;
  readonly credentials: readonly CredentialRow[];
  readonly checklist: readonly string[];
  readonly testScripts: readonly string[];
  readonly links: readonly { readonly relation: string; readonly id: string }[];
  readonly extensions: readonly { readonly name: string; readonly json: string }[];
  readonly fileCount: number;
  readonly totalBytes: number;
  readonly compression: string;
  readonly compressedBytes: number | null;
  /** The manifest as it stands, for those who want to read it; cut when it is long. */
  readonly manifestJson: string;
}

export type FileState = "verified" | "differs" | "unlisted" | "missing" | "claimed" | "unverified";

/** One file, as a tuple: twenty thousand of them travel at once. */
export type FileTuple = readonly [
  path: string,
  size: number,
  state: FileState,
  role: string,
  /** -1 when it is not text, or not counted yet. */
  tokens: number,
  hash: string,
  withheld: 0 | 1,
];

export interface Files {
  /** False: what the manifest claims; the archive is still being read. */
  readonly complete: boolean;
  readonly rows: readonly FileTuple[];
}

export interface EndpointRow {
  readonly method: string;
  readonly path: string;
  readonly description: string;
  readonly params: readonly Fact[];
  readonly bodySchema: string;
  readonly responseSchema: string;
}

export type CriterionState = "passed" | "failed" | "skipped" | "unknown" | "open";

export interface CriterionRow {
  readonly id: string;
  readonly description: string;
  readonly type: string;
  readonly how: string;
  readonly expected: string;
  readonly verdict: CriterionState;
  readonly evidence: string;
  readonly note: string;
  readonly log: string;
  /** The end of its log, when it failed. */
  readonly tail: string;
  readonly provesNothing: boolean;
  /** guards, unsteady, forgeable, uncontrolled, steered, quick: why a pass proves nothing. */
  readonly weakness: string;
  /** How it ended on the untouched request, and with the work. */
  readonly before: string;
  readonly after: string;
  readonly durationMs: number | null;
  readonly judgedBy: string;
}

export interface ChecklistRow {
  readonly item: string;
  readonly verdict: CriterionState;
  readonly evidence: string;
  readonly note: string;
  readonly judgedBy: string;
}

export interface TimelineRow {
  readonly at: string;
  readonly kind: "checkpoint" | "decision" | "issue" | "credential" | "created" | "completed";
  readonly text: string;
  readonly detail: string;
}

export interface DeliveryFacts {
  readonly status: string;
  readonly summary: string;
  /** Who judged something after the summary was written. */
  readonly judgedSince: readonly string[];
  readonly percentage: number | null;
  readonly completedAt: string;
  readonly deliverer: readonly Fact[];
  readonly strategy: string;
  readonly verdict: VerdictView;
  readonly artifacts: readonly {
    readonly change: "created" | "modified" | "deleted";
    readonly path: string;
    readonly lines: string;
  }[];
  readonly digests: readonly Fact[];
  readonly fullLog: string;
}

/** What takes a pass over the whole bundle. */
export interface Details {
  readonly completeness: {
    readonly status: "draft" | "incomplete" | "ready";
    readonly findings: readonly Finding[];
    readonly passed: readonly { readonly path: string; readonly message: string }[];
  };
  /** Archive, tree, hashes, schema. */
  readonly findings: readonly Finding[];
  readonly endpoints: readonly EndpointRow[];
  readonly criteria: readonly CriterionRow[];
  readonly checklist: readonly ChecklistRow[];
  readonly delivery: DeliveryFacts | null;
  readonly timeline: readonly TimelineRow[];
  readonly contextTokens: number;
  readonly contextWindow: number;
  readonly contentDigest: string;
  readonly counts: { readonly verified: number; readonly differs: number; readonly unverified: number };
}

export interface ComparedRow {
  readonly path: string;
  readonly before: string;
  readonly after: string;
  readonly change: "added" | "removed" | "changed";
  readonly sizeBefore: number;
  readonly sizeAfter: number;
  /** Another one for other contents. */
  readonly stamp: string;
}

export interface Comparison {
  /** True when the second answers the first: its artifacts are laid over the request's files. */
  readonly isAnswer: boolean;
  readonly files: readonly ComparedRow[];
  readonly fields: readonly { readonly field: string; readonly before: string; readonly after: string }[];
  readonly same: number;
}

/** A line of a side-by-side diff; null where one side has none. */
export interface DiffLine {
  readonly before: number | null;
  readonly after: number | null;
  readonly left: string;
  readonly right: string;
  readonly kind: "same" | "removed" | "added" | "changed";
  /** In one column: what stands on the other side of a changed line. */
  readonly other?: string;
}

/** One line that a search found. */
export interface LineFound {
  readonly side: number;
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

export type CountRow = readonly [path: string, added: number, removed: number];

export interface FileDiff {
  readonly lines: readonly DiffLine[];
  /** Why there is nothing to compare. */
  readonly note: string;
}

/** A file inside an exported page. */
export interface EmbeddedFile {
  readonly path: string;
  readonly kind: "text" | "image";
  readonly content: string;
  readonly cut: boolean;
}

/** Everything an exported page holds. */
export interface Exported {
  /** One bundle, or a request and what answers it. */
  readonly sides: readonly ExportedSide[];
  readonly comparison: Comparison | null;
  readonly exportedAt: string;
}

export interface ExportedSide {
  readonly head: Head;
  readonly details: Details;
  readonly files: Files;
  readonly embedded: readonly EmbeddedFile[];
}
