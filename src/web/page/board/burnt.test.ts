import { expect, it } from "vitest";
import { burnt } from "./burnt.js";

it("only ever grows, also where sessions run at the same time", () => {
  const uses = [
    { from: 0, to: 100, amount: 10 },
    { from: 0, to: 50, amount: 20 },
    { from: 80, to: 80, amount: 5 },
  ];
  expect(burnt(uses)).toEqual([
    [0, 0],
    [50, 25],
    [80, 33],
    [100, 35],
  ]);
});
