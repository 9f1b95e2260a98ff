// One file is four programs: the hook that hosts start (which must never meet an argument parser that could end in anything but 0 or 2),
// the command line, the demo agent, and the broker that nexus run starts. Only the hook is in the part that every start reads.
const [word, ...rest] = process.argv.slice(2);
if (word === "hook" && !rest.some((argument) => argument.startsWith("-"))) {
  const { hookMain } = await import("../../src/hook/main.js");
  await hookMain(rest);
} else {
  const { start } = await import("./nexus-rest.js");
  await start(word, rest);
}
