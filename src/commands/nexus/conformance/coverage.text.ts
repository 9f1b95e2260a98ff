import { command } from "../../../cli/command.js";
import { green, red } from "../../../cli/text.js";
import { conformanceCoverage } from "./coverage.js";

export default command(conformanceCoverage, {
  flags: { fixtures: { value: "<dir>", about: "a folder with fixtures and state-schemas in it" } },
  about: [
    "Every field of a state schema must be in some fixture's covers.state_schemas; every parameter of a call must be asserted or listed in uncovered_params.",
  ],
  examples: [["nexus conformance coverage", "the suite that came with nexus"]],
  text: ({ schemas, params, complete }) => [
    ...schemas.map(({ schema, fields, uncovered }) =>
      uncovered.length === 0
        ? `${green("✓")} ${schema}: ${fields} of ${fields} fields`
        : `${red("✗")} ${schema}: ${fields - uncovered.length} of ${fields} fields, not ${uncovered.join(", ")}`,
    ),
    ...params.map(({ test_id, file, param }) => `${red("✗")} ${test_id} (${file}): nothing looks at "${param}"`),
    complete ? "everything is covered" : "not everything is covered",
  ],
  exit: ({ complete }) => (complete ? 0 : 1),
});
