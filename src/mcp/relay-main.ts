// What an agent in a sandbox starts as its tool server. A file of its own: the agent's program waits for it, and the command
// line would load ten times as much to pass a few lines on.
import { TOOL_SOCKET } from "../schema/tools.js";
import { relay } from "./relay.js";

const socket = process.env[TOOL_SOCKET];
if (socket === undefined) {
  process.stderr.write(`nexus: ${TOOL_SOCKET} says where the tools are, and it is not set\n`);
  process.exitCode = 2;
} else {
  relay(socket, process.stdin, process.stdout).catch((error: Error) => {
    process.stderr.write(`nexus: the tools cannot be reached: ${error.message}\n`);
    process.exitCode = 1;
    process.stdin.destroy();
  });
}
