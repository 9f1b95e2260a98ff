import { command } from "../../../cli/command.js";
import { bold, dim, table, wrap } from "../../../cli/text.js";
import { coreFlag } from "./core-flag.js";
import { show } from "./show.js";

export default command(show, {
  positionals: [{ name: "id", about: "a role such as engineer, or a skill such as nx-plan" }],
  flags: { core: coreFlag },
  examples: [
    ["nexus catalog show engineer", "what an engineer may do and is told"],
    ["nexus catalog show nx-plan --json | jq -r .body", "only the text"],
  ],
  text: ({ kind, id, meta, capabilities, blocked_classes, model, body }, { columns }) => [
    `${bold(id)}  ${dim(kind)}`,
    ...wrap(String(meta.description ?? ""), Math.min(columns, 100)),
    "",
    ...table(
      [
        ["category", meta.category],
        ["resume tier", meta.resume_tier],
        ["model", kind === "agent" ? (model ?? `${meta.model_tier} (the program's own choice)`) : undefined],
        ["denied", capabilities.join(" ")],
        ["classes", blocked_classes.join(" ")],
        ["started by", kind === "skill" && meta.manual_only === true ? "a person only" : undefined],
      ].flatMap(([label, value]) => (value === undefined || value === "" ? [] : [[dim(`${label}`), String(value)]])),
    ),
    "",
    ...body.trimEnd().split("\n"),
  ],
});
