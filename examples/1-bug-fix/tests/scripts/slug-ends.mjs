#!/usr/bin/env node
import assert from "node:assert/strict";
import { slug } from "../../files/src/slug.mjs";

assert.equal(slug("  Hello,  world!"), "hello-world");
assert.equal(slug("C++ & Rust"), "c-rust");
assert.equal(slug("..."), "");
assert.equal(slug("- 1 -"), "1");
console.log("ends and doubles are clean");
