// What agents did with the credentials that were lent to them: every use a line of a file that the delivery carries, and each
// kind of refusal once among what happened on the way, where the board and the delivery show it.
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { BrokerUse } from "../../broker/index.js";
import type { Run } from "../run.js";
import { record } from "../run.js";

/** In the run's logs, and in the delivery's. */
export const CREDENTIAL_USES = "credential-uses.jsonl";

/** An agent may ask as often as it likes; a record is read by people. */
const MOST_LINES = 20_000;
const MOST_ISSUES = 20;

type Place = Pick<Run, "folder" | "journal" | "context">;

/** Never throws: a record that cannot be written must not let a use fail halfway. The first such error is told. */
export function recordUse({ folder, journal, context }: Place): (use: BrokerUse) => void {
  const path = join(folder.logs, CREDENTIAL_USES);
  let lines = existsSync(path) ? readFileSync(path, "utf8").split("\n").length - 1 : 0;
  let failed = false;
  const issues = new Set<string>();
  return (use) => {
    try {
      mkdirSync(dirname(path), { recursive: true });
      lines += 1;
      if (lines <= MOST_LINES) appendFileSync(path, `${JSON.stringify(use)}\n`, { mode: 0o600 });
      else if (lines === MOST_LINES + 1)
        appendFileSync(path, `${JSON.stringify({ more: "uses after this one are not listed" })}\n`);
      const { name, by, what, allowed, why = "" } = use;
      if (allowed) return;
      const message = `credential "${name}": ${by} was refused ${what}: ${why}`;
      context.progress({ type: "credential_refused", name, by, what, message });
      const kind = `${name} ${by} ${why}`;
      if (issues.has(kind) || issues.size >= MOST_ISSUES) return;
      issues.add(kind);
      record({ journal, context }, { type: "issue", message });
    } catch (error) {
      if (failed) return;
      failed = true;
      context.progress({ type: "warning", message: `the record of credential uses is not written: ${String(error)}` });
    }
  };
}
