import { z } from "zod";
import { command } from "../../../cli/command.js";
import { count, dim, green, red, yellow } from "../../../cli/text.js";
import { reconcile } from "../../../fleet/index.js";
import { withWorkFolder } from "../../../request/open/work-folder.js";
import { aboutFleet } from "./about-fleet.js";
import { ask, FLEET_FLAGS } from "./fleet-flags.js";
import { shortId } from "./job-shape.js";

/** A server that forgot everything would fill the screen. */
const MOST_LINES = 20;

export default aboutFleet(
  command({
    name: "fleet reconcile",
    summary: "hand in again what the server forgot, and nothing twice",
    input: z.object({ ...FLEET_FLAGS }),
    output: z.object({
      known: z.int().describe("open jobs the server knows and has in its queue"),
      changed: z.array(
        z.object({
          job: z.string(),
          title: z.string(),
          action: z.enum(["resubmitted", "requeued", "lost"]),
          why: z.string().optional(),
        }),
      ),
    }),
    about: [
      "A server may lose what it had acknowledged when power goes from most of a cluster at once. What was handed in from here and is not settled is compared with what the server knows; what it forgot is handed in again under the same id, and what it lost from its queue is queued again.",
      "Exit 1: a request it forgot is gone here, too.",
    ],
    examples: [["nexus fleet reconcile", "after a power cut"]],
    run: (input, context) =>
      withWorkFolder(context, (work) =>
        ask(input, context, async (fleet) => {
          const all = await reconcile(fleet, context, work);
          const changed = all.flatMap(({ action, ...rest }) => (action === "known" ? [] : [{ ...rest, action }]));
          return { known: all.length - changed.length, changed };
        }),
      ),
    text: ({ known, changed }) => [
      ...changed.slice(0, MOST_LINES).map(({ job, title, action, why }) => {
        const paint = action === "lost" ? red : yellow;
        return `${paint(action)} ${shortId(job)}  ${title}${why === undefined ? "" : dim(` (${why})`)}`;
      }),
      ...(changed.length > MOST_LINES ? [dim(`and ${changed.length - MOST_LINES} more (--json lists them)`)] : []),
      `${green("✓")} ${count(known, "open job")} known to the server, ${changed.length} brought back or missed`,
    ],
    exit: ({ changed }) => (changed.some(({ action }) => action === "lost") ? 1 : 0),
  }),
);
