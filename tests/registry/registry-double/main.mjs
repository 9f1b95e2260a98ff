// A registry for tests, written from the OCI distribution specification 1.1: blobs, uploads in chunks, mounts, manifests,
// tags, referrers, with a token server and a storage host of their own. It can be told to fail.
//   node main.mjs '{"referrers":true}'   prints its addresses as one line of JSON; ends when standard input ends
// Control (POST /set, /log, /put) is on a port of its own.
import { createServer } from "node:http";
import { storage, tokens } from "./others.mjs";
import { registry } from "./registry.mjs";
import { answerControl, faultFor, logged, options, world } from "./world.mjs";

/** What goes wrong is decided before anything is answered. */
function guarded(name, handler) {
  return async (request, response) => {
    const url = new URL(request.url, `http://${request.headers.host}`);
    logged(name, request);
    response.on("error", () => {});
    try {
      const fault = faultFor(name, request, url);
      if (fault?.drop) return request.socket.destroy();
      if (fault?.status !== undefined) {
        request.resume();
        await new Promise((done) => request.once("end", done));
        return void response.writeHead(fault.status, fault.headers ?? {}).end(fault.body ?? "");
      }
      await handler(request, response, url, fault ?? {});
    } catch (error) {
      if (error.code !== "ERR_STREAM_PREMATURE_CLOSE") process.stderr.write(`${error.stack}\n`);
      response.destroy();
    }
  };
}

const listen = (handler) =>
  new Promise((done) => {
    const server = createServer(handler);
    server.listen(0, "127.0.0.1", () => done(server.address().port));
  });

Object.assign(options, JSON.parse(process.argv[2] ?? "{}"));
world.ports.registry = await listen(guarded("registry", registry));
world.ports.storage = await listen(guarded("storage", storage));
world.ports.tokens = await listen(guarded("tokens", tokens));
const control = await listen(answerControl);
process.stdout.write(`${JSON.stringify({ ...world.ports, control })}\n`);
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
