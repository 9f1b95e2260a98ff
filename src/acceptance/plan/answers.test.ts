import { expect, it } from "vitest";
import { isComparedAnswer, patternsIn, readCheck } from "./answers.js";

const facts = { path: "want.txt", text: "3\n", code: ["total.sh"], ownNames: new Set(["check.sh"]) };
const COMPARES = 'got=$(sh total.sh 1 2)\n[ "$got" = "$(cat want.txt)" ]\n';

it("finds the answer a check compares with, and no other file", () => {
  const check = readCheck(COMPARES);
  expect(isComparedAnswer(check, facts)).toBe(true);
  expect(isComparedAnswer(check, { ...facts, path: "other.txt" })).toBe(false);
});

/** Each of these took minutes, or did not end, when it was tried with every blank and from every letter. */
it.each([
  ["blanks after a word", `import ${" ".repeat(1_900)}x\n`],
  ["one endless word", "x".repeat(1_900)],
  ["stars", `${"a*".repeat(900)}b`],
  ["brackets that never close", "const {\n"],
  ["reads and what is read", "read a b c; done < x\n"],
  ["names made of names", "a=b\nb=a\n"],
])("reads hostile checks to an end: %s", (_, line) => {
  const text = COMPARES + line.repeat(Math.ceil(200_000 / line.length));
  expect(isComparedAnswer(readCheck(text), facts)).toBe(true);
  for (const { fits } of patternsIn([text])) expect(fits.test(`${"a".repeat(250)}c`)).toBe(false);
});
