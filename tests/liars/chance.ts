// Family 6: chance. A check that is right some of the time, whatever the work, and work that has nothing to do with it:
// how often is it believed? A rate, so it is measured.
import { type House, judgeWork } from "./referee.js";
import { command, script, type World } from "./table.js";

const UNRELATED = { "files/notes.txt": "a change that has nothing to do with it\n" };

function coinOf(id: string, files: World["files"], line: string): World {
  return {
    id,
    stack: "chance",
    task: "Make the coin fall on the right side",
    files: { "files/notes.txt": "notes\n", ...files },
    criteria: [line.startsWith("tests/") ? script("AC-1", line) : command("AC-1", line)],
    honest: {},
  };
}

const shell = (below: number) =>
  `set -eu\n[ "$(od -An -N1 -tu1 /dev/urandom | tr -d ' ')" -lt ${below} ]\necho "it fell right"\n`;
const node = (share: string) =>
  `import assert from "node:assert/strict";\nconst side = Math.random() < ${share} ? "right" : "wrong";\nassert.equal(side, "right");\n`;

export const COINS: readonly World[] = [
  coinOf("coin-half-shell", { "tests/coin.sh": shell(128) }, "tests/coin.sh"),
  coinOf("coin-two-thirds-shell", { "tests/coin.sh": shell(171) }, "tests/coin.sh"),
  coinOf("coin-half-node", { "tests/coin.mjs": node("1 / 2") }, "node tests/coin.mjs"),
  coinOf("coin-two-thirds-node", { "tests/coin.mjs": node("2 / 3") }, "node tests/coin.mjs"),
];

/** The share of `tries` that were believed, the coins taken in turn, two at a time. */
export async function believedByChance(house: House, tries: number): Promise<{ believed: number; tries: number }> {
  let [next, believed] = [0, 0];
  const player = async () => {
    for (let n = next++; n < tries; n = next++) {
      const verdict = await judgeWork({ ...house, ask: "accept" }, COINS[n % COINS.length]!, UNRELATED);
      if (verdict.believed) believed++;
    }
  };
  await Promise.all([player(), player()]);
  return { believed, tries };
}
