import { command } from "../../../cli/command.js";
import { bold, dim, green, red, yellow } from "../../../cli/text.js";
import { acceptanceFlags, MARKS, reportLines } from "./acceptance-text.js";
import { verify } from "./verify.js";

const EVIDENCE = { proven: green("proven"), judged: yellow("judged"), said: red("said") } as const;

export default command(verify, {
  positionals: [{ name: "delivery", about: "a delivery: a .nut file or a folder" }],
  flags: {
    request: { short: "r", value: "<request>", about: "the request it answers" },
    rerun: { about: "run the acceptance again, in a clean folder" },
    ...acceptanceFlags,
  },
  about: [
    "Checks every hash, that the delivery answers that request, and what backs each claim: proven (the acceptance ran), judged (someone looked and says why) or only said.",
    "Answers no (1) when something is damaged or does not match, or when completed is claimed without being backed.",
  ],
  examples: [
    ["nutshell verify delivery.nut --request task.nut", "hashes, links, claims"],
    ["nutshell verify delivery.nut -r task.nut --rerun", "and run the acceptance again"],
  ],
  text: ({ verified, status, backed, gaps, claims, findings, rerun }) => [
    ...findings.map(({ severity, message }) => `${severity === "error" ? red("✗") : yellow("⚠")} ${message}`),
    ...claims.map(
      ({ id, status: claimed, evidence, note, proves_nothing }) =>
        `${MARKS[claimed]} ${bold(id)}: ${claimed}, ${EVIDENCE[evidence]}${proves_nothing ? yellow(" (proves nothing)") : ""}${note === undefined ? "" : dim(` (${note})`)}`,
    ),
    ...(rerun === null ? [] : ["", "run again:", ...reportLines(rerun)]),
    ...(status === "completed" && !backed ? gaps.map((gap) => dim(`  ${gap}`)) : []),
    `${verified ? green("verified") : red("not verified")}: ${status ?? "it is damaged"}${status === "completed" && !backed ? " is claimed, but not backed" : ""}`,
  ],
  exit: ({ verified }) => (verified ? 0 : 1),
});
