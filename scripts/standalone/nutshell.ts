import { run } from "../../src/commands/nutshell/main.js";

process.exitCode = await run();
