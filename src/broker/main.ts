// The broker's own program, which nexus run starts. It is bundled by itself, so that what holds the secrets holds little else.
import { serveBroker } from "./serve.js";

// Ctrl-C in a terminal is meant for the run, which ends us by closing our input when nobody needs us any more.
for (const name of ["SIGINT", "SIGHUP"] as const) process.on(name, () => {});
process.once("SIGTERM", () => process.stdin.destroy());
// Nobody is left to tell.
process.stdout.on("error", () => {});
await serveBroker(process.stdin, process.stdout);
