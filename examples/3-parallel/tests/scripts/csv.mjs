#!/usr/bin/env node
import assert from "node:assert/strict";
import { parseCsv } from "../../files/csv/parse.mjs";

assert.deepEqual(parseCsv("a,b\n1,2\n"), [{ a: "1", b: "2" }]);
assert.deepEqual(parseCsv('a,b\r\n"x, y","say ""hi"""\r\n'), [{ a: "x, y", b: 'say "hi"' }]);
assert.deepEqual(parseCsv('a,b\n"one\ntwo",2'), [{ a: "one\ntwo", b: "2" }]);
assert.deepEqual(parseCsv("a,b\n\n1,\n\n"), [{ a: "1", b: "" }]);
assert.deepEqual(parseCsv("a,b\n"), []);
assert.throws(() => parseCsv("a,b,c\n1,2,3\n4,5\n"), /line 3 has 2 fields, expected 3/);
console.log("tables are read");
