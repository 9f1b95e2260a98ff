#!/usr/bin/env node
import { run } from "../dist/nexus.js";

process.exitCode = await run();
