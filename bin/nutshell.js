#!/usr/bin/env node
import module from "node:module";

// Node 22 and newer keep what they compiled, which halves the time a command needs to load.
module.enableCompileCache?.();
const { run } = await import("../dist/nutshell.js");
process.exitCode = await run();
