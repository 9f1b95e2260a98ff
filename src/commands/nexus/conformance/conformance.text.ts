import { command } from "../../../cli/command.js";
import { count, green, red } from "../../../cli/text.js";
import { conformanceThrough, contextFor } from "./conformance.js";
import { overMcp } from "./over-mcp.js";

const conformance = conformanceThrough((context) => ({ "over MCP": overMcp((root) => contextFor(root, context)) }));

export default command(conformance, {
  flags: {
    fixtures: { value: "<dir>", about: "fixtures to run instead of the ones that came with nexus" },
    "harness-id": { value: "<id>", about: "what {HARNESS_ID} stands for when a fixture does not say" },
  },
  about: ["Each fixture runs in a fresh project, once by calling the tools and once over MCP."],
  examples: [
    ["nexus conformance", "the suite that came with nexus"],
    ["nexus conformance --fixtures ../nexus-core/conformance", "somebody else's suite"],
  ],
  text: ({ passed, failed, failures, doors }) => [
    ...failures.map(({ test_id, file, door, message }) => `${red("✗")} ${test_id} (${file}, ${door}): ${message}`),
    `${failed === 0 ? green("✓") : red("✗")} ${count(passed, "fixture")} passed, ${failed} failed, ${doors.join(" and ")}`,
  ],
  exit: ({ failed }) => (failed === 0 ? 0 : 1),
});
