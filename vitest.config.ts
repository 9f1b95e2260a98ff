import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that change what the whole process shares: modules, variables, the folder it stands in. Each has a process of its own. */
const ALONE = [
  "src/files/take-name.test.ts",
  "src/process/child.test.ts",
  "src/state/lock.test.ts",
  "src/trees/result-tree.test.ts",
  "src/vault/secret-file.test.ts",
  "tests/acceptance/stacks.test.ts",
  "tests/acceptance/surroundings.test.ts",
  "tests/hosts/plugin.test.ts",
  "tests/package/fetch-package.test.ts",
  "tests/package/standalone.test.ts",
  "tests/run/leftovers.test.ts",
];

/**
 * Files that take longest, longest first: begun last, they would be waited for alone. Others follow by size. Those of ALONE come
 * before all, since a worker that others share ends when one of them is next.
 */
const FIRST = [
  "tests/docs/documents.test.ts",
  "tests/fleet/storm.test.ts",
  "tests/hosts/qwen-gemini.test.ts",
  "tests/hosts/opencode.test.ts",
  "tests/drivers/troubles.test.ts",
  "tests/run/process.test.ts",
  "tests/package/package.test.ts",
  "tests/package/action.test.ts",
  "tests/fleet/line.test.ts",
  "tests/drivers/acp-agents.test.ts",
  "tests/hosts/shell-ways.test.ts",
  "tests/liars/liars.test.ts",
  "tests/hosts/claude.test.ts",
  "tests/acceptance/runners.test.ts",
  "tests/broker/run.test.ts",
  "tests/fleet/leases.test.ts",
  "tests/fleet/story.test.ts",
  "tests/acceptance/apply.test.ts",
  "tests/hosts/codex.test.ts",
  "tests/run/engine.test.ts",
  "tests/run/elsewhere.test.ts",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      if (ALONE.some((path) => moduleId.endsWith(path))) return -1;
      const index = FIRST.findIndex((path) => moduleId.endsWith(path));
      return index === -1 ? FIRST.length : index;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

const common = {
  // Real files, real processes: a slow machine must not turn a pass into a failure.
  testTimeout: 60_000,
  hookTimeout: 120_000,
  pool: "forks" as const,
  // Starting a program copies the page tables of whoever starts it, and half of a worker's time was that: a worker of 350 MB
  // takes five times as long for it as one of 100 MB. So the heap is kept small.
  execArgv: ["--max-semi-space-size=4", "--heap-growing-percent=40"],
  setupFiles: ["tests/clean-up.ts"],
};

export default defineConfig({
  test: {
    // Two for each core of a small machine: half of the time is waiting for other programs.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    globalSetup: ["tests/global-setup.ts"],
    reporters: ["default", "./tests/skip-reporter.ts"],
    projects: [
      { test: { ...common, name: "alone", include: ALONE } },
      // The rest share their modules: loading them anew for each file took a tenth of the whole.
      {
        test: {
          ...common,
          name: "together",
          isolate: false,
          include: ["src/**/*.test.ts", "tests/**/*.test.ts"],
          exclude: ALONE,
        },
      },
    ],
  },
});
