import { z } from "zod";
import { rawCommand } from "../../../cli/command.js";
import { contextOf } from "../../../cli/io.js";
import { serve } from "../../../mcp/server.js";

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
    await serve({
      context: contextOf(io, true, () => {}),
      stdin: io.stdin(),
      stdout: io.stdout,
      onError: (error) => io.stderr.write(`nexus: mcp: ${error.message.split("\n")[0]}\n`),
    });
    if (io.signal.aborted) return io.signal.reason === "SIGTERM" ? 143 : 130;
    return 0;
  },
});
