import { z } from "zod";
import { command } from "../../../cli/command.js";
import { bold, dim, green, table, yellow } from "../../../cli/text.js";
import { ABILITIES, type Ability, DRIVER_NAMES, loadDriver, type Support } from "../../../drivers/index.js";
import { findBwrap } from "../../../process/index.js";

const SupportShape = z.enum(["native", "emulated", "absent"] satisfies Support[]);

const WORDS = { native: green("yes"), emulated: "by us", absent: yellow("no") } as const;

export default command({
  name: "drivers",
  summary: "agents installed here, and what they can do",
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
        note: z.string().optional().describe("what to know although it can be used"),
        abilities: z.record(z.enum(ABILITIES satisfies readonly Ability[]), SupportShape),
      }),
    ),
    sandbox: z.boolean().describe("whether bubblewrap holds agents here"),
  }),
  about: [
    "Agents are programs found on PATH. What a program cannot hold by itself, the sandbox and the comparison of the tree do.",
  ],
  examples: [["nexus drivers --json", "for scripts"]],
  async run(_, { env }) {
    const probes = DRIVER_NAMES.map(async (name) => (await loadDriver(name)).probe(env));
    const [rows, bwrap] = await Promise.all([Promise.all(probes), findBwrap(env)]);
    return { drivers: rows.map((row) => ({ ...row, abilities: { ...row.abilities } })), sandbox: bwrap !== null };
  },
  text: ({ drivers: rows, sandbox }) => [
    ...table([
      [
        bold("driver"),
        bold("program"),
        bold("version"),
        ...Object.keys(rows[0]?.abilities ?? {}).map((name) => bold(name.replace("_", " "))),
      ],
      ...rows.map(({ driver, program, version, usable, abilities }) => [
        driver,
        program,
        usable ? (version ?? dim("any")) : yellow("-"),
        ...Object.values(abilities).map((support) => (usable ? WORDS[support] : dim("-"))),
      ]),
    ]),
    "",
    ...rows.flatMap(({ driver, usable, reason, hint, note }) =>
      usable
        ? note === undefined
          ? []
          : [`${driver}: ${note}`]
        : [`${driver}: ${reason}${hint === undefined ? "" : dim(` (${hint})`)}`],
    ),
    sandbox
      ? "sandbox: bubblewrap holds every agent"
      : yellow("sandbox: bubblewrap is not available; limits rest on the agents' own settings"),
  ],
});
