import { command } from "../../../cli/command.js";
import { count, dim, green, red, yellow } from "../../../cli/text.js";
import type { Finding } from "../../../errors.js";
import { coreFlag } from "./core-flag.js";
import { verify } from "./verify.js";

export default command(verify, {
  flags: { core: coreFlag },
  about: [
    "Checks every meta.yml and vocabulary file against its schema, every reference between them, every body against the " +
      "hash in manifest.json, and what the project's .nexus/config.yml adds. Answers no (exit 1) when something is wrong.",
  ],
  examples: [
    ["nexus catalog verify", "the core that came with the program"],
    ["nexus catalog verify --core ./nexus-core", "any other"],
  ],
  text: ({ ok, agents, skills, core, findings }) => [
    ...findingLines(findings),
    ok
      ? `${green("ok")}  ${count(agents, "role")}, ${count(skills, "skill")} in ${core}`
      : `${red("not ok")}  ${count(findings.length, "finding")} in ${core}`,
  ],
  exit: ({ ok }) => (ok ? 0 : 1),
});

export function findingLines(findings: readonly Finding[]): string[] {
  return findings.flatMap(({ severity, path, message, fix }) => [
    `${severity === "error" ? red(severity) : yellow(severity)}  ${path}: ${message}`,
    ...(fix === undefined ? [] : [dim(`       ${fix}`)]),
  ]);
}
