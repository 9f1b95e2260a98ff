import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { Honest } from "./honest-tests.js";
import { answers, checkOf, failedAsAltered, runnerBench } from "./runner-room.js";

/** jest and playwright are no dependencies of ours; where they are installed is said from outside. */
const MODULES = process.env.RUNNERS_NODE_MODULES ?? "";
const CHROMIUM = "/usr/bin/chromium";
const OURS = fileURLToPath(new URL("../../node_modules", import.meta.url));
const LINKS: Partial<Record<NonNullable<Honest["needs"]>, string>> = {
  vitest: OURS,
  jest: MODULES,
  playwright: MODULES,
};

export const HAS: Readonly<Record<NonNullable<Honest["needs"]>, boolean>> = {
  bash: answers("bash", "--version"),
  python3: answers("python3", "--version"),
  pytest: answers("python3", "-m", "pytest", "--version"),
  go: answers("go", "version"),
  cargo: answers("cargo", "--version"),
  junit: answers("javac", "-version") && existsSync("/usr/share/java/junit-platform-console.jar"),
  gcc: answers("gcc", "--version"),
  make: answers("make", "--version"),
  vitest: true,
  jest: existsSync(`${MODULES}/.bin/jest`),
  playwright: existsSync(`${MODULES}/.bin/playwright`) && existsSync(CHROMIUM),
};

/** Right work passes, and every control fails it as an assertion of the tests that were altered. */
export function describeHonest(rows: readonly Honest[]): void {
  describe("honest tests", () => {
    for (const honest of rows) {
      const missing = honest.needs !== undefined && !HAS[honest.needs];
      it.skipIf(missing)(honest.name, { timeout: 240_000 }, () => expectHonest(honest));
    }
  });
}

async function expectHonest({
  files,
  needs,
  check: fields,
  forgeable,
  tests,
  controls,
  slow,
  altered,
}: Honest): Promise<void> {
  const modules = needs === undefined ? undefined : LINKS[needs];
  const bench = runnerBench(files, {
    links: modules === undefined ? {} : { node_modules: modules },
    env: { CHROMIUM },
  });
  try {
    const check = checkOf(fields);
    const outcome = await bench.run(check);
    expect(outcome, outcome.log).toMatchObject({ status: "passed", forgeable });
    expect(outcome.tests?.length ?? null, JSON.stringify(outcome.tests)).toBe(tests);
    const made = bench.controls(check, outcome);
    const names = made.map(({ name }) => name);
    if (slow === true) expect(names.length).toBeGreaterThanOrEqual(controls);
    else expect(names).toHaveLength(controls);
    if (altered !== undefined) expect(made[0]!.mustFail).toHaveLength(altered);
    for (const control of made) expect(failedAsAltered(control, await bench.run(check, control))).toBe("ok");
  } finally {
    bench.remove();
  }
}
