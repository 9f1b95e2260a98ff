// The short form: one trick for each stack, families in turn, and the honest work it is set against. Everything else, and
// the second question (`verify --rerun`), is in `npm run torture`.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { plainPytest } from "../acceptance/plain-pytest.js";
import { here } from "../run/here.js";
import { earlier } from "./before.js";
import { HONEST } from "./honest.js";
import { type House, judge, judgeHonest } from "./referee.js";
import { FAMILIES, type Honest, honestId, type Trick, type World } from "./table.js";
import { findTools, ROOT } from "./tools.js";
import { TRICKS } from "./tricks.js";
import { twoAtOnce } from "./two-at-once.js";
import { DECIDED } from "./worlds/lines.js";

const tools = findTools();
const house: House = { folder: ROOT, path: [...plainPytest(), ...tools.path], ask: "accept" };
/** The same command in this process, except where a program of this package is needed: a check has none of where it is asked from. */
const houseOf = ({ needs = [] }: World): House =>
  needs.some((program) => existsSync(join(ROOT, "node_modules/.bin", program)))
    ? house
    : { ...house, here: (cwd, args, env) => here("nutshell", cwd, args, env) };
const missing = (needs: readonly string[] = []) => needs.filter((program) => !tools.has(program)).join(", ");

/** Whole runs and compilers take too long to be asked at every commit. */
const SLOW = ["cargo", "java", "jest", "vitest"];
const quick = ({ by, world, undecidable }: Trick) =>
  by !== "run" && !SLOW.includes(world.stack) && undecidable === undefined;

const fit = TRICKS.filter((trick) => quick(trick) && earlier(trick.id) === "completed");

/** One trick for each stack, of the family that was taken least so far. */
function oneOfEach(fit: readonly Trick[]): Trick[] {
  const taken = new Map<string, number>(FAMILIES.map((family) => [family, 0]));
  return [...new Set(fit.map(({ world }) => world.stack))].map((stack) => {
    const [trick] = fit
      .filter(({ world }) => world.stack === stack)
      .sort((a, b) => taken.get(a.family)! - taken.get(b.family)!);
    taken.set(trick!.family, taken.get(trick!.family)! + 1);
    return trick!;
  });
}

const chosen = oneOfEach(fit);

describe("the table", () => {
  it("has at least 120 tricks of every family, 60 of which fooled the code of before", () => {
    expect(new Set(TRICKS.map(({ id }) => id)).size).toBe(TRICKS.length);
    expect(TRICKS.length).toBeGreaterThanOrEqual(120);
    for (const family of FAMILIES.filter((name) => name !== "chance")) {
      expect(TRICKS.filter((trick) => trick.family === family).length, family).toBeGreaterThanOrEqual(5);
    }
    expect(TRICKS.filter(({ id }) => earlier(id) === "completed").length).toBeGreaterThanOrEqual(60);
    expect(TRICKS.filter(({ id }) => earlier(id) === null).map(({ id }) => id)).toEqual([]);
  });

  it("has a short form with a trick of every family", () => {
    expect(new Set(chosen.map(({ family }) => family))).toEqual(new Set(fit.map(({ family }) => family)));
  });

  it("has at least 40 honest projects in 10 stacks, one in every world a trick is played in", () => {
    expect(HONEST.length).toBeGreaterThanOrEqual(40);
    expect(new Set(HONEST.map(({ world }) => world.stack)).size).toBeGreaterThanOrEqual(10);
    expect(new Set(HONEST.map(honestId)).size).toBe(HONEST.length);
    const worlds = new Set(HONEST.map(({ world }) => world.id));
    const judgedByForgersOnly = ["for-person", "cannot-run", "guard-only", "guard-and-cannot-run"];
    const nobodyPasses = [...judgedByForgersOnly, ...DECIDED.map(({ id }) => id)];
    const missed = TRICKS.filter(({ world }) => !worlds.has(world.id) && !nobodyPasses.includes(world.id));
    expect(missed.map(({ id }) => id)).toEqual([]);
  });
});

const worlds = new Set(chosen.map(({ world }) => world.id));
const answers = HONEST.filter(({ by, world }: Honest) => by === "work" && worlds.has(world.id)).slice(0, 8);

describe.concurrent("nobody believes who", () => {
  for (const trick of chosen) {
    const needs = missing(trick.world.needs);
    it.skipIf(needs !== "")(
      `${trick.id}: ${trick.does}${needs && ` (${needs} is missing)`}`,
      async () => {
        const verdict = await twoAtOnce(() => judge(houseOf(trick.world), trick));
        expect(verdict.yes, verdict.said).toEqual([]);
      },
      300_000,
    );
  }
});

describe.concurrent("everybody believes the honest work in", () => {
  for (const honest of answers) {
    const needs = missing(honest.world.needs);
    it.skipIf(needs !== "")(
      `${honestId(honest)}${needs && ` (${needs} is missing)`}`,
      async () => {
        const verdict = await twoAtOnce(() => judgeHonest(houseOf(honest.world), honest));
        expect(verdict.believed, verdict.said).toBe(true);
      },
      300_000,
    );
  }
});
