#!/usr/bin/env node
import assert from "node:assert/strict";
import { slug } from "../../files/src/slug.mjs";

assert.equal(slug("Hello world"), "hello-world");
assert.equal(slug("Release 2"), "release-2");
assert.equal(slug("plain"), "plain");
console.log("what was right stays right");
