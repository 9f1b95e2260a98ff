#!/usr/bin/env node
import assert from "node:assert/strict";
import { parseDuration } from "../../files/src/duration.mjs";

assert.equal(parseDuration("1.5h"), 5_400_000);
assert.equal(parseDuration("1.1s"), 1_100);
assert.equal(parseDuration("0.1d"), 8_640_000);
for (const text of ["", "90", "h", "1x", "-5s", "1h!", "1h1h", "30m1h", "1.h", "1h 30"]) {
  assert.throws(
    () => parseDuration(text),
    (error) => error instanceof RangeError && error.message.includes(text),
    `parseDuration(${JSON.stringify(text)}) must be refused`,
  );
}
console.log("decimals are exact, nonsense is refused");
