import { command } from "../../../cli/command.js";
import { bold, dim, green, table, yellow } from "../../../cli/text.js";
import { drivers } from "./drivers.js";

const WORDS = { native: green("yes"), emulated: "by us", absent: yellow("no") } as const;

export default command(drivers, {
  about: [
    "Agents are programs found on PATH. What a program cannot hold by itself, the sandbox and the comparison of the tree do.",
  ],
  examples: [["nexus drivers --json", "for scripts"]],
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
    ...rows.flatMap(({ driver, usable, reason, hint }) =>
      usable ? [] : [`${driver}: ${reason}${hint === undefined ? "" : dim(` (${hint})`)}`],
    ),
    sandbox
      ? "sandbox: bubblewrap holds every agent"
      : yellow("sandbox: bubblewrap is not available; limits rest on the agents' own settings"),
  ],
});
