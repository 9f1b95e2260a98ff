import { run } from "../../src/cli/nutshell/main.js";

process.exitCode = await run();
