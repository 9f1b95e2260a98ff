#!/usr/bin/env node
import assert from "node:assert/strict";
import { format, summarise } from "../../files/report/summary.mjs";

const rows = [
  { region: "B", amount: "0.10" },
  { region: "B", amount: "0.20" },
  { region: "A", amount: "0.30" },
  { region: "C", amount: "5" },
];
const summary = summarise(rows);
assert.deepEqual(summary, [
  { region: "C", cents: 500, sales: 1 },
  { region: "A", cents: 30, sales: 1 },
  { region: "B", cents: 30, sales: 2 },
]);
assert.equal(format(summary), "C: 5.00 (1 sale)\nA: 0.30 (1 sale)\nB: 0.30 (2 sales)");
assert.equal(format(summarise([])), "");
console.log("totals are exact");
