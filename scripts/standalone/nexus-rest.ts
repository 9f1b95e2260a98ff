// Everything but the hook, each read when it is asked for.
export async function start(word: string | undefined, rest: readonly string[]): Promise<void> {
  if (word === "demo-agent") {
    await import("../../src/run/demo/agent.js");
  } else if (word === "broker" && rest.length === 0) {
    await import("../../src/broker/main.js");
  } else {
    const { run } = await import("../../src/commands/nexus/main.js");
    process.exitCode = await run();
  }
}
