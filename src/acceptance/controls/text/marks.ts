// Words that controls write into tests. They are new in every process: work that knew them could behave well wherever it
// saw one, and lie everywhere else.
import { randomInt } from "node:crypto";

const LETTERS = "bcdfghjklmnpqrstvwxz";

/** Letters only, so that it may stand in a name, in a pattern and in a shell's word; in no text that was there before. */
export function newWord(length = 10): string {
  return Array.from({ length }, () => LETTERS[randomInt(LETTERS.length)]).join("");
}

/** What an altered text holds. */
export const ALTERED = newWord();

/** Two numbers that are not the same. */
export function twoNumbers(): readonly [number, number] {
  const one = randomInt(3, 1000);
  return [one, one + randomInt(1, 1000)];
}
