#!/usr/bin/env node
// Node 22 and newer keep what they compiled, which halves the time a command needs to load.
process.getBuiltinModule("node:module").enableCompileCache?.();
const { run } = await import("../dist/nexus.js");
process.exitCode = await run();
