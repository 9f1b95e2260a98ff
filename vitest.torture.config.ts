import { defineConfig } from "vitest/config";

// The long form of what `npm test` samples: more kills, more writers, more random inputs.
export default defineConfig({
  test: {
    include: ["tests/torture/**/*.torture.ts"],
    testTimeout: 30 * 60_000,
    hookTimeout: 120_000,
    pool: "forks",
    setupFiles: ["tests/clean-up.ts"],
    fileParallelism: false,
    globalSetup: ["tests/global-setup.ts"],
  },
});
