import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "tests/**/*.test.ts"],
    // Real files, real processes: a slow machine must not turn a pass into a failure.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: "forks",
    maxWorkers: 3,
    globalSetup: ["tests/global-setup.ts"],
    reporters: ["default", "./tests/skip-reporter.ts"],
  },
});
