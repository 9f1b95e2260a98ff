import { join, resolve } from "node:path";
import { z } from "zod";
import { findCoreFolder } from "../../../catalog/index.js";
import { type Context, operation } from "../../../operation.js";
import { DEFAULT_HARNESS_ID, forgetProjects } from "../../../state/index.js";
import { callTool } from "../../../tools/call-tool.js";
import { loadFixtures } from "./fixtures.js";
import { type OpenDoor, refused, runFixture } from "./run-fixture.js";

const Failure = z.object({ test_id: z.string(), file: z.string(), door: z.string(), message: z.string() });

/** Doors by name: every fixture must pass through each of them. */
export function conformanceThrough(doors: (context: Context) => Readonly<Record<string, OpenDoor>>) {
  return operation({
    name: "conformance",
    summary: "run conformance fixtures against the real tools",
    input: z.object({
      fixtures: z.string().optional().describe("a folder with tools, scenarios or lifecycle in it"),
      harnessId: z.string().default(DEFAULT_HARNESS_ID),
    }),
    output: z.object({ passed: z.int(), failed: z.int(), failures: z.array(Failure), doors: z.array(z.string()) }),
    async run({ fixtures, harnessId }, context) {
      const loaded = loadFixtures(fixtures === undefined ? ownFixtures() : resolve(context.cwd, fixtures));
      const open = { "in process": inProcess(context), ...doors(context) };
      const failures: z.infer<typeof Failure>[] = [];
      let failed = 0;
      for (const [index, one] of loaded.entries()) {
        context.progress({ type: "fixture", message: "fixtures", done: index + 1, total: loaded.length });
        context.signal.throwIfAborted();
        const before = failures.length;
        for (const [door, openDoor] of Object.entries(open)) {
          const said = await runFixture(one, { open: openDoor, harnessId, now: context.now });
          const { test_id } = one.fixture;
          failures.push(...said.map((message) => ({ test_id, file: one.file, door, message })));
        }
        if (failures.length > before) failed += 1;
      }
      return { passed: loaded.length - failed, failed, failures, doors: Object.keys(open) };
    },
  });
}

export function ownFixtures(): string {
  return join(findCoreFolder(), "conformance");
}

/** A fixture's project, whoever runs it: no role, no other project. */
export function contextFor(root: string, context: Context): Context {
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
