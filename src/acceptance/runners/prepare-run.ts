// The door of runners: what is run for a check, and what its run came to.
import type { ChildResult } from "../../process/index.js";
import type { Check, Outcome } from "../model.js";
import { prepareCargoTest } from "./cargo-test.js";
import { prepareGoTest } from "./go-test.js";
import { prepareJest, preparePlaywright, prepareVitest } from "./json-runners.js";
import { prepareJUnit } from "./junit.js";
import { prepareNodeTest } from "./node-test.js";
import { logOf } from "./outcomes.js";
import type { Prepare } from "./prepare.js";
import { preparePytest } from "./pytest.js";
import { type RunnerKind, recognise } from "./recognise.js";
import type { PreparedRun, RunnerRoom, TreeView } from "./runner.js";
import { prepareScript } from "./script.js";

const RUNNERS: Readonly<Record<RunnerKind, Prepare>> = {
  "node-test": prepareNodeTest,
  vitest: prepareVitest,
  jest: prepareJest,
  pytest: preparePytest,
  "go-test": prepareGoTest,
  "cargo-test": prepareCargoTest,
  junit: prepareJUnit,
  playwright: preparePlaywright,
};

export async function prepareRun(check: Check, view: TreeView, room: RunnerRoom): Promise<PreparedRun | Outcome> {
  const recognised = recognise(check, view);
  if (recognised === null) return prepareScript(check, view, room);
  return RUNNERS[recognised.runner]({ check, view, room, recognised });
}

export function readRun(
  check: Check,
  prepared: PreparedRun,
  result: ChildResult,
  reports: ReadonlyMap<string, Uint8Array>,
): Outcome {
  const outcome = prepared.reading.read(check, prepared, result, reports);
  return {
    ...outcome,
    log: logOf(result),
    forgeable: prepared.forgeable,
    ...(prepared.note === undefined ? {} : { note: prepared.note }),
  };
}
