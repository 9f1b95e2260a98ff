#!/usr/bin/env node
// Node 22 and newer keep what they compiled, which halves the time a command needs to load.
process.getBuiltinModule("node:module").enableCompileCache?.();
// The two that load most of us are bundled by themselves.
const apart = process.argv[2] === "run" || process.argv[2] === "resume";
const { run } = await import(apart ? "../dist/run/nexus.js" : "../dist/nexus.js");
process.exitCode = await run();
