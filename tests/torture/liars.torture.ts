// All of tests/liars: every trick, every honest project, and the rate at which chance is believed.
import { describe, expect, it } from "vitest";
import { believedByChance } from "../liars/chance.js";
import { hasHide, judgeHidden } from "../liars/hidden.js";
import { HONEST } from "../liars/honest.js";
import { type House, judge, judgeHonest } from "../liars/referee.js";
import { honestId } from "../liars/table.js";
import { fetchJest, findTools, ROOT } from "../liars/tools.js";
import { TRICKS } from "../liars/tricks.js";
import { twoAtOnce } from "../liars/two-at-once.js";

fetchJest();
const tools = findTools();
const house: House = { folder: ROOT, path: tools.path };
const missing = (needs: readonly string[] = []) => needs.filter((program) => !tools.has(program)).join(", ");
const named = (needs: string) => needs && ` (${needs} is missing)`;
const TRIES = Number(process.env.NUT_LIARS_TRIES ?? 400);

describe.concurrent("nobody believes who", () => {
  for (const trick of TRICKS.filter(({ undecidable }) => undecidable === undefined)) {
    const needs = missing(trick.world.needs);
    it.skipIf(needs !== "")(`${trick.id}: ${trick.does}${named(needs)}`, async () => {
      const verdict = await twoAtOnce(() => judge(house, trick));
      expect(verdict.yes, verdict.said).toEqual([]);
    });
  }
});

describe.concurrent("hidden checks tell who", () => {
  const hide = hasHide(house);
  for (const trick of TRICKS.filter(
    ({ undecidable, world }) => undecidable !== undefined && world.hidden !== undefined,
  )) {
    const needs = [missing(trick.world.needs), hide ? "" : "nutshell hide"].filter(Boolean).join(", ");
    it.skipIf(needs !== "")(`${trick.id}: ${trick.does}${named(needs)}`, async () => {
      const verdict = await twoAtOnce(() => judgeHidden(house, trick.world, trick.lie));
      expect(verdict.yes, verdict.said).toEqual([]);
    });
  }
});

describe.concurrent("everybody believes the honest work in", () => {
  for (const honest of HONEST) {
    const needs = missing(honest.world.needs);
    it.skipIf(needs !== "")(`${honestId(honest)}${named(needs)}`, async () => {
      const verdict = await twoAtOnce(() => judgeHonest(house, honest));
      expect(verdict.believed, verdict.said).toBe(true);
    });
  }
});

describe("chance", () => {
  it(`is believed in at most 2 % of ${TRIES} tries`, async () => {
    const { believed, tries } = await believedByChance(house, TRIES);
    expect(believed / tries).toBeLessThanOrEqual(0.02);
  });
});
