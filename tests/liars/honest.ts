// Honest work, all of which must be believed.
import type { Honest, World } from "./table.js";
import { constrained, polite } from "./worlds/judged.js";
import { LATER_WORLDS } from "./worlds/later.js";
import { LINE_WORLDS } from "./worlds/lines.js";
import { answeredByCriterion, documentWorld, MORE_WORLDS, refactoring } from "./worlds/more.js";
import { NODE_WORLDS, nodeScript } from "./worlds/node.js";
import { ORDINARY_WORLDS } from "./worlds/ordinary.js";
import { PYTHON_WORLDS, pytest } from "./worlds/python.js";
import { REPOSITORY_WORLDS, repoNpm, repoPytest } from "./worlds/repository.js";
import { RUNNER_WORLDS } from "./worlds/runners.js";
import { SHAPES } from "./worlds/shapes.js";
import { SILENT_WORLDS } from "./worlds/silent.js";
import { PLANTED_WORLDS, SURROUNDING_WORLDS } from "./worlds/surroundings.js";
import { make, SYSTEM_WORLDS } from "./worlds/system.js";
import { WARY_WORLDS } from "./worlds/wary.js";

const worlds: readonly World[] = [
  ...NODE_WORLDS,
  ...PYTHON_WORLDS,
  ...SYSTEM_WORLDS,
  ...RUNNER_WORLDS,
  ...REPOSITORY_WORLDS,
  ...MORE_WORLDS,
  ...WARY_WORLDS,
  ...SHAPES,
  ...LATER_WORLDS,
  ...SILENT_WORLDS,
  ...ORDINARY_WORLDS,
  ...SURROUNDING_WORLDS,
  ...PLANTED_WORLDS,
  ...LINE_WORLDS,
  constrained,
];

/** A reviewer that reads and quotes. */
const quoting = (...lines: string[]) => `cat <<'SAID'\n${lines.join("\n")}\nVERDICT: pass\nSAID`;

const RUNS: readonly Honest[] = [
  { world: nodeScript, by: "run" },
  { world: pytest, by: "run" },
  { world: make, by: "run" },
  { world: repoNpm, by: "run" },
  { world: repoPytest, by: "run" },
  {
    world: polite,
    by: "run",
    cast: { engineer: "work", reviewer: quoting('[passed] 1: files/hello.txt:1 holds "please come in"') },
  },
  {
    world: refactoring,
    by: "run",
    cast: {
      engineer: "work",
      reviewer: quoting(
        '[passed] 1: files/src/total.mjs:2 holds "prices.reduce"',
        '[passed] 2: files/src/total.mjs:2 holds "return"',
      ),
    },
  },
  {
    world: documentWorld,
    by: "run",
    cast: {
      engineer: "work",
      reviewer: quoting(
        '[passed] 1: files/guide.md:3 holds "total(prices)"',
        '[passed] 2: files/guide.md:5 holds "total([1, 2, 3])"',
      ),
    },
  },
  { world: answeredByCriterion, by: "run", cast: { engineer: "work", reviewer: "echo 'VERDICT: pass'" } },
];

export const HONEST: readonly Honest[] = [...worlds.map((world): Honest => ({ world, by: "work" })), ...RUNS];
