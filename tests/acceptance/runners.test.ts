import { afterEach, describe, expect, it } from "vitest";
import { HONEST, type Honest } from "./honest-tests.js";
import { answers, type Bench, checkOf, failedAsAltered, runnerBench } from "./runner-room.js";

const HAS: Readonly<Record<NonNullable<Honest["needs"]>, boolean>> = {
  bash: answers("bash", "--version"),
  python3: answers("python3", "--version"),
  pytest: answers("python3", "-m", "pytest", "--version"),
  go: answers("go", "version"),
  cargo: answers("cargo", "--version"),
  junit: false,
  gcc: answers("gcc", "--version"),
  make: answers("make", "--version"),
  vitest: true,
  jest: false,
  playwright: false,
};

let open: Bench[] = [];
afterEach(() => {
  for (const { remove } of open) remove();
  open = [];
});
const bench = (...args: Parameters<typeof runnerBench>): Bench => {
  const made = runnerBench(...args);
  open.push(made);
  return made;
};

describe("honest tests", () => {
  for (const honest of HONEST) {
    it.skipIf(honest.needs !== undefined && !HAS[honest.needs])(honest.name, async () => {
      const { run, controls } = bench(honest.files);
      const check = checkOf(honest.check);
      const outcome = await run(check);
      expect(outcome, outcome.log).toMatchObject({ status: "passed", forgeable: honest.forgeable });
      expect(outcome.tests?.length ?? null, JSON.stringify(outcome.tests)).toBe(honest.tests);
      const made = controls(check, outcome);
      expect(made.map(({ name }) => name)).toHaveLength(honest.controls);
      if (honest.altered !== undefined) expect(made[0]!.mustFail).toHaveLength(honest.altered);
      for (const control of made) expect(failedAsAltered(control, await run(check, control))).toBe("ok");
      expect(await run(check)).toMatchObject({ status: "passed" });
    });
  }
});
