import type { Check, Outcome } from "../model.js";
import type { Recognised } from "./recognise.js";
import type { PreparedRun, RunnerRoom, TreeView } from "./runner.js";

export interface Preparing {
  readonly check: Check;
  readonly view: TreeView;
  readonly room: RunnerRoom;
  readonly recognised: Recognised;
}

/** A command to run, or the outcome that makes running it pointless. */
export type Prepare = (preparing: Preparing) => Promise<PreparedRun | Outcome>;
