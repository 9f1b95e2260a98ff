import { z } from "zod";
import { ABILITIES, type Ability, DRIVER_NAMES, loadDriver, type Support } from "../../../drivers/index.js";
import { operation } from "../../../operation.js";
import { findBwrap } from "../../../process/index.js";

const SupportShape = z.enum(["native", "emulated", "absent"] satisfies Support[]);

export const drivers = operation({
  name: "drivers_list",
  summary: "which agents are installed, and what each can do",
  input: z.object({}),
  output: z.object({
    drivers: z.array(
      z.object({
        driver: z.enum(DRIVER_NAMES),
        program: z.string(),
        path: z.string().nullable(),
        version: z.string().nullable(),
        usable: z.boolean(),
        reason: z.string().optional(),
        hint: z.string().optional(),
        abilities: z.record(z.enum(ABILITIES satisfies readonly Ability[]), SupportShape),
      }),
    ),
    sandbox: z.boolean().describe("whether bubblewrap holds agents here"),
  }),
  async run(_, { env }) {
    const probes = DRIVER_NAMES.map(async (name) => (await loadDriver(name)).probe(env));
    const [rows, bwrap] = await Promise.all([Promise.all(probes), findBwrap(env)]);
    return { drivers: rows.map((row) => ({ ...row, abilities: { ...row.abilities } })), sandbox: bwrap !== null };
  },
});
