#!/usr/bin/env node
import assert from "node:assert/strict";
import { delayOf, first, nextRun } from "../../files/src/scheduler.mjs";

assert.equal(delayOf({ name: "a", every: 1000 }), 1000);
assert.equal(delayOf({ name: "a", every: "1m" }), 60_000);
assert.equal(nextRun({ name: "a", every: "1s" }, 500), 1500);
assert.throws(() => delayOf({ name: "a", every: "soon" }), RangeError);
const jobs = [
  { name: "slow", every: "1h" },
  { name: "fast", every: 50 },
];
assert.equal(first(jobs, new Map()).job.name, "fast");
console.log("the scheduler takes both");
