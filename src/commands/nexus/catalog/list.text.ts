import { command } from "../../../cli/command.js";
import { bold, dim, table } from "../../../cli/text.js";
import { coreFlag } from "./core-flag.js";
import { list } from "./list.js";
import { findingLines } from "./verify.text.js";

export default command(list, {
  flags: { core: coreFlag },
  about: [
    "Roles are shown with what they are denied in this project: the canonical capabilities and those that " +
      ".nexus/config.yml adds. Skills marked manual are started by a person only.",
  ],
  examples: [
    ["nexus catalog list", "roles, skills and tags"],
    ["nexus catalog list --json | jq '.agents[].id'", "only the names"],
  ],
  text: ({ agents, skills, tags, findings, version }) => [
    bold(`Roles (nexus-core ${version})`),
    ...table(
      agents.map((a) => [
        `  ${a.id}`,
        a.category,
        a.resume_tier,
        a.model ?? a.model_tier,
        dim(a.capabilities.join(" ")),
      ]),
    ),
    "",
    bold("Skills"),
    ...table(skills.map((s) => [`  ${s.id}`, s.manual_only ? "manual" : "", dim(clause(s.description))])),
    "",
    bold("Tags"),
    ...table(tags.map((t) => [`  ${t.trigger}`, t.variants.map((v) => `:${v}`).join(" "), dim(t.description)])),
    ...findingLines(findings),
  ],
});

/** Up to the first dash: enough for a row. */
function clause(description: string): string {
  return description.split(" - ")[0]!;
}
