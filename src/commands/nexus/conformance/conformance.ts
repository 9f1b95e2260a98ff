import { resolve } from "node:path";
import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag } from "../../../cli/fields.js";
import { count, green, red } from "../../../cli/text.js";
import type { Context } from "../../../operation.js";
import { DEFAULT_HARNESS_ID, forgetProjects } from "../../../state/index.js";
import { callTool } from "../../../tools/call-tool.js";
import { loadFixtures, ownFixtures } from "./fixtures.js";
import { overMcp } from "./over-mcp.js";
import { type OpenDoor, refused, runFixture } from "./run-fixture.js";

const Failure = z.object({ test_id: z.string(), file: z.string(), door: z.string(), message: z.string() });

export default command({
  name: "conformance",
  summary: "run conformance fixtures against the tools",
  input: z.object({
    fixtures: flag(z.string().optional(), {
      value: "<dir>",
      about: "fixtures to run instead of the ones that came with nexus",
    }),
    harnessId: flag(z.string().default(DEFAULT_HARNESS_ID), {
      value: "<id>",
      about: "what {HARNESS_ID} stands for when a fixture does not say",
    }),
  }),
  output: z.object({ passed: z.int(), failed: z.int(), failures: z.array(Failure), doors: z.array(z.string()) }),
  about: ["Each fixture runs in a fresh project, once by calling the tools and once over MCP."],
  examples: [
    ["nexus conformance", "the suite that came with nexus"],
    ["nexus conformance --fixtures ../nexus-core/conformance", "somebody else's suite"],
  ],
  async run({ fixtures, harnessId }, context) {
    const loaded = loadFixtures(fixtures === undefined ? ownFixtures() : resolve(context.cwd, fixtures));
    const doors = { "in process": inProcess(context), "over MCP": overMcp((root) => contextFor(root, context)) };
    const failures: z.infer<typeof Failure>[] = [];
    let failed = 0;
    for (const [index, one] of loaded.entries()) {
      context.progress({ type: "fixture", message: "fixtures", done: index + 1, total: loaded.length });
      context.signal.throwIfAborted();
      const before = failures.length;
      for (const [door, open] of Object.entries(doors)) {
        const said = await runFixture(one, { open, harnessId, now: context.now });
        const { test_id } = one.fixture;
        failures.push(...said.map((message) => ({ test_id, file: one.file, door, message })));
      }
      if (failures.length > before) failed += 1;
    }
    return { passed: loaded.length - failed, failed, failures, doors: Object.keys(doors) };
  },
  text: ({ passed, failed, failures, doors }) => [
    ...failures.map(({ test_id, file, door, message }) => `${red("✗")} ${test_id} (${file}, ${door}): ${message}`),
    `${failed === 0 ? green("✓") : red("✗")} ${count(passed, "fixture")} passed, ${failed} failed, ${doors.join(" and ")}`,
  ],
  exit: ({ failed }) => (failed === 0 ? 0 : 1),
});

/** A fixture's project, whoever runs it: no role, no other project. */
function contextFor(root: string, context: Context): Context {
  return { ...context, cwd: root, env: { NEXUS_PROJECT_DIR: root }, ask: null };
}

function inProcess(context: Context): OpenDoor {
  return (root) => ({
    async call(tool, params) {
      try {
        const { result } = await callTool(tool, params, contextFor(root, context));
        const { error } = result as { error?: string };
        return { value: result, error: error ?? null };
      } catch (error) {
        return refused(error);
      }
    },
    async close() {
      forgetProjects();
    },
  });
}
