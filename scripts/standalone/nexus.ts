// One file is four programs: the command line, the hook that hosts start (which must never meet an argument parser that
// could end in anything but 0 or 2), the demo agent, and the broker that nexus run starts.
const [word, ...rest] = process.argv.slice(2);
if (word === "hook" && !rest.some((argument) => argument.startsWith("-"))) {
  const { hookMain } = await import("../../src/hook/main.js");
  await hookMain(rest);
} else if (word === "demo-agent") {
  await import("../../src/run/demo/agent.js");
} else if (word === "broker" && rest.length === 0) {
  await import("../../src/broker/main.js");
} else {
  const { run } = await import("../../src/commands/nexus/main.js");
  process.exitCode = await run();
}
