#!/usr/bin/env node
import assert from "node:assert/strict";
import { parseDuration } from "../../files/src/duration.mjs";

assert.equal(parseDuration("250ms"), 250);
assert.equal(parseDuration("45s"), 45_000);
assert.equal(parseDuration("1h30m"), 5_400_000);
assert.equal(parseDuration("2m 5s"), 125_000);
assert.equal(parseDuration("1d"), 86_400_000);
console.log("units are read");
