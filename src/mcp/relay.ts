// An agent in a sandbox may not write to the state, so its tool server does not run beside it: what the agent starts only
// passes the protocol on to a socket of the run, behind which the server is.
import { connect } from "node:net";
import type { Readable, Writable } from "node:stream";

/** Resolves when either side has gone. */
export function relay(path: string, stdin: Readable, stdout: Writable): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once("error", reject);
    socket.once("close", () => {
      stdin.destroy();
      resolve();
    });
    stdin.pipe(socket);
    socket.pipe(stdout, { end: false });
  });
}
