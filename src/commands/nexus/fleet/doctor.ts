import { z } from "zod";
import { command } from "../../../cli/command.js";
import { green, red, yellow } from "../../../cli/text.js";
import { examine, withServer } from "../../../fleet/index.js";
import { FindingShape } from "../../../schema/finding.js";
import { aboutFleet, fixesAt } from "./about-fleet.js";
import { FLEET_FLAGS, settingsOf } from "./fleet-flags.js";

export default aboutFleet(
  command({
    name: "fleet doctor",
    summary: "what the server gives, what it may lose, and what is stuck",
    input: z.object({ ...FLEET_FLAGS }),
    output: z.object({
      server: z.string(),
      version: z.string().nullable(),
      healthy: z.boolean(),
      facts: z.array(z.string()),
      findings: z.array(FindingShape),
    }),
    about: ["Exit 1: something is wrong that keeps jobs from being done."],
    examples: [["nexus fleet doctor", "look at it all"]],
    async run(input, context) {
      const settings = await settingsOf(input, context);
      return withServer(settings, { name: "nexus fleet doctor", patient: false }, async (nc, jsm) => {
        const server = settings.servers.join(", ");
        const { facts, findings } = await examine(nc, jsm, server, context.now());
        const healthy = !findings.some(({ severity }) => severity === "error");
        return { server, version: nc.info?.version ?? null, healthy, facts, findings: fixesAt(findings, input) };
      });
    },
    text: ({ facts, findings }) => [
      ...facts.map((fact) => `${green("✓")} ${fact}`),
      ...findings.map(({ severity, message, fix }) => {
        const mark = severity === "error" ? red("✗") : yellow("!");
        return `${mark} ${message}${fix === undefined ? "" : `; ${fix}`}`;
      }),
    ],
    exit: ({ healthy }) => (healthy ? 0 : 1),
  }),
);
