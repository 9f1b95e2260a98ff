#!/usr/bin/env node
import { run } from "../dist/nutshell.js";

process.exitCode = await run();
