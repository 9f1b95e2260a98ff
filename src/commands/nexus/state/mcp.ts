import { z } from "zod";
import { rawCommand } from "../../../cli/command.js";
import { contextOf } from "../../../cli/io.js";
import { stoppedBy } from "../../../cli/stopped-by.js";
import { printable } from "../../../cli/text.js";
import { relay } from "../../../mcp/relay.js";
import { TOOL_SOCKET } from "../../../schema/tools.js";

export default rawCommand({
  name: "mcp",
  summary: "serve the eleven tools to an agent, over stdio",
  input: z.object({}),
  about: [
    "Speaks the Model Context Protocol on standard input and output until the client goes away.",
    "The project is the one of the folder it is started in. The role, if any, is NEXUS_ROLE: the harness sets it for the agents it starts.",
  ],
  examples: [["nexus mcp", "what a host is told to start"]],
  async run(_, io) {
    const socket = io.env[TOOL_SOCKET];
    if (socket !== undefined) {
      await relay(socket, io.stdin(), io.stdout);
      return 0;
    }
    const { serve } = await import("../../../mcp/server.js");
    await serve({
      context: contextOf(io, true, () => {}),
      stdin: io.stdin(),
      stdout: io.stdout,
      onError: (error) => {
        if ((error as NodeJS.ErrnoException).code === "EPIPE") return;
        io.stderr.write(`nexus: mcp: ${printable(error.message.split("\n")[0]!)}\n`);
      },
    });
    // That the client went away is how this ends, even in the middle of an answer.
    if (io.signal.aborted && io.signal.reason !== "SIGPIPE") return stoppedBy(io.signal.reason);
    return 0;
  },
});
