#!/usr/bin/env node
"use strict";
// Node 22 and newer keep what they compiled, which halves the time a command needs to load.
process.getBuiltinModule("node:module").enableCompileCache?.();
require("../dist/nutshell.cjs")
  .run()
  .then((status) => {
    process.exitCode = status;
  });
