#!/usr/bin/env node
"use strict";
require("../dist/nexus.cjs")
  .run()
  .then((status) => {
    process.exitCode = status;
  });
