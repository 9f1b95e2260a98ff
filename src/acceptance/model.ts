// The words of acceptance as types: what a check is, what one run of it came to, what several runs together show.
// See docs/decisions/0130-proof-that-survives-a-liar.md.
import type { CRITERION_TYPES, Criterion } from "../schema/criteria.js";
import type { Endpoints } from "../schema/endpoints.js";
import type { SuppliedControl } from "./controls/index.js";

export type CheckKind = (typeof CRITERION_TYPES)[number];

/** One criterion, ready to run. */
export interface Check extends Criterion {
  /** null when the type is unknown and there is no script to run either. */
  readonly kind: CheckKind | null;
  readonly timeoutMs: number;
  /** false: a person judges it, and nobody else. */
  readonly automatic: boolean;
  /** Ids of checks whose outputs it gets, with the tests mounted afresh. */
  readonly after: readonly string[];
  /** Whether it may be run more often than once although it uses a network or a credential. */
  readonly repeatable: boolean;
}

export interface CheckPlan {
  readonly checks: readonly Check[];
  readonly endpoints: Endpoints | null;
  /** Whether a path is one of the request's own tests, which no result may change. */
  readonly isOwnTest: (path: string) => boolean;
  /** Tests that are named one by one, wherever they stand. */
  readonly ownFiles: readonly string[];
  /** Paths the request declares as the work; null when it leaves that to the default. */
  readonly subject: readonly string[] | null;
  /** Wrong tests the publisher supplies, as the manifest names them. */
  readonly controls: readonly SuppliedControl[];
}

/** One test as a runner reports it. */
export interface TestResult {
  /** The same in every run: file and full name. */
  readonly id: string;
  readonly status: "passed" | "failed" | "skipped";
  /** Failed by an assertion of its own, not by a missing import, a syntax error, a crash or its time. */
  readonly assertion?: boolean;
  /** No test of its own: it stands for tests that were promised and never ran. */
  readonly promised?: true;
}

/** What one run of one check came to. */
export interface Outcome {
  readonly status: "passed" | "failed" | "skipped" | "unknown";
  readonly reason?: string;
  readonly log?: string;
  /** Something a reader should know about how it was run. */
  readonly note?: string;
  /** Each test by name, where the runner tells. */
  readonly tests?: readonly TestResult[];
  /** Files with tests that the runner opened and of which it reported none, as ids begin. */
  readonly silent?: readonly string[];
  /** How it failed: by an assertion that the test itself reported, or by anything else. */
  readonly failure?: "assertion" | "other";
  /** The code under test shares a process with what reports, so it could have written the report itself. */
  readonly forgeable?: boolean;
}

/** The same check with its expectations altered: it must fail on work that is really right. */
export interface Control {
  /** Such as `altered literals in tests/add.test.mjs` or `a failing last line`. */
  readonly name: string;
  /** Files of the tests as they are in this run, by path from the tree's root. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Fields of the check that are altered: `expected`, `command`. */
  readonly check?: Partial<Check>;
  /** Tests that must fail; null when the runner tells no names: then the check as a whole must. */
  readonly mustFail: readonly string[] | null;
  /** Files as they cannot be read: when the check passes with these too, it never looked, and the control shows nothing. */
  readonly unlessUnread?: Unread;
  /** Files with tests of which none was reported, made unfit to be loaded: nobody reads them, so the check must still pass. */
  readonly mustPass?: true;
}

/** A file that cannot be read, and the word in it by which whoever tried complains. */
export interface Unread {
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly word: string;
}

/** One run: on which tree, with which control. */
export interface Trial {
  readonly tree: "base" | "result" | "steered";
  readonly control: Control | null;
  readonly outcome: Outcome;
  readonly durationMs: number;
  /** A control that altered what nobody reads, or the run that found it out. */
  readonly showsNothing?: true;
}

/** Why a passed criterion is not proven. */
export const WEAKNESSES = ["guards", "steered", "unsteady", "forgeable", "uncontrolled", "quick", "hidden"] as const;
export type Weakness = (typeof WEAKNESSES)[number];

/** What all runs of a check together show. */
export interface Weighed {
  readonly status: Outcome["status"];
  readonly proven: boolean;
  readonly weakness: Weakness | null;
  /** One sentence, in words a person understands. */
  readonly reason: string | null;
}
