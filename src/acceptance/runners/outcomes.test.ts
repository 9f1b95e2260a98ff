import { describe, expect, it } from "vitest";
import type { ChildResult } from "../../process/index.js";
import type { Check } from "../model.js";
import { type Declared, testsOutcome } from "./outcomes.js";

const check = { id: "AC-1", timeoutMs: 1000 } as unknown as Check;
const ended = {
  reason: "exited",
  code: 0,
  signal: null,
  stdout: { text: "" },
  stderr: { text: "" },
} as unknown as ChildResult;
const declared = (id: string, more: Partial<Declared> = {}): Declared => ({
  id,
  sure: false,
  inFile: true,
  skips: false,
  ...more,
});
const passed = (id: string) => ({ id, status: "passed" as const });
const outcome = (tests: readonly string[], opened: readonly string[], rows: readonly Declared[]) =>
  testsOutcome(check, ended, { tests: tests.map(passed), opened }, rows);

describe("tests that a file declares", () => {
  it("must be reported once the file was opened", () => {
    const rows = [declared("easy > one"), declared("hard > add")];
    expect(outcome(["easy > one"], ["hard"], rows)).toMatchObject({
      status: "failed",
      reason: "hard > add was not reported",
      silent: ["hard"],
    });
    expect(outcome(["easy > one"], [], rows)).toMatchObject({ status: "passed" });
    expect(outcome(["easy > one", "hard > add"], ["hard"], rows)).toMatchObject({ status: "passed" });
  });

  it("must be reported when another test of the file is", () => {
    expect(outcome(["hard > add"], [], [declared("hard > add"), declared("hard > mul")])).toMatchObject({
      reason: "hard > mul was not reported",
    });
  });

  it("may be missing where the author says so", () => {
    const skips = [declared("easy > one"), declared("hard > add", { skips: true })];
    expect(outcome(["easy > one"], ["hard"], skips)).toMatchObject({ status: "passed" });
    const chosen = [declared("easy > one"), declared("hard > add", { inFile: false })];
    expect(outcome(["easy > one"], ["hard"], chosen)).toMatchObject({ status: "passed" });
  });
});
