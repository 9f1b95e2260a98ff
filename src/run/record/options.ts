import type { Budget } from "../agents/budget.js";

/** What a run was started with; written once, so that going on needs no flags. */
export interface RunOptions {
  readonly id: string;
  readonly created_at: string;
  readonly title: string;
  readonly request_id: string;
  /** Absolute path of the bundle or folder it came from. */
  readonly request: string;
  readonly driver: string;
  readonly command?: string;
  readonly model?: string;
  readonly repo?: string;
  readonly plan?: string;
  readonly jobs?: number;
  readonly budget: Budget;
  readonly review_plan: boolean;
  readonly yes: boolean;
  /** Work on a request that its own check calls incomplete. */
  readonly force: boolean;
  readonly output: string;
  readonly identity?: readonly string[];
}
