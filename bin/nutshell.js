#!/usr/bin/env node
"use strict";
require("../dist/nutshell.cjs")
  .run()
  .then((status) => {
    process.exitCode = status;
  });
