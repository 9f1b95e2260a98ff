// Small programs for rooms that are joined by a socket, as text, because a room's command must not depend on where our
// own files are.
import { AS_ENGINE } from "../process/index.js";

/** The name of the socket in the shared folder. */
export const SOCKET = "s";

/**
 * Starts a service on a port of its own and lets the socket lead to it. Reads what to do from standard input. The socket gets
 * its name when it is listened to: one that is only bound refuses.
 */
export const SERVE = `
const { spawn } = require("node:child_process");
const net = require("node:net");
const { readFileSync, renameSync } = require("node:fs");
delete process.env.${AS_ENGINE};
const { start, socket, timeoutMs } = JSON.parse(readFileSync(0, "utf8"));
const fail = (why) => { console.error(why); process.exit(1); };
const probe = net.createServer().listen(0, "127.0.0.1", () => {
  const { port } = probe.address();
  probe.close(() => serve(port));
});
function serve(port) {
  const line = readFileSync(start, "utf8").split("\\n", 1)[0];
  const words = line.startsWith("#!") ? line.slice(2).trim().split(/\\s+/) : ["sh"];
  if (words[0].endsWith("/env")) words.shift();
  const service = spawn(words[0], [...words.slice(1), start], { env: { ...process.env, PORT: String(port) }, stdio: ["ignore", 2, 2] });
  service.on("error", (error) => fail(start + ": " + error.message));
  service.on("exit", (code) => fail(start + " ended with " + code + " before it could be asked"));
  const until = Date.now() + timeoutMs;
  const wait = () => {
    const trial = net.connect(port, "127.0.0.1");
    trial.once("connect", () => { trial.destroy(); net.createServer({ allowHalfOpen: true }, (from) => bridge(from, port)).listen(socket + "-", () => renameSync(socket + "-", socket)); });
    trial.once("error", () => (Date.now() > until ? fail(start + " did not listen on $PORT in time") : setTimeout(wait, 50)));
  };
  wait();
}
function bridge(from, port) {
  const to = net.connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  from.pipe(to).pipe(from);
  from.on("error", () => to.destroy());
  to.on("error", () => from.destroy());
}
`;

/** Runs a command that finds the service at a port of its own: \`node -e TEXT socket command …\`. */
export const FORWARD = `
const { spawn } = require("node:child_process");
const net = require("node:net");
const { constants } = require("node:os");
delete process.env.${AS_ENGINE};
const [socket, command, ...args] = process.argv.slice(1);
const server = net.createServer({ allowHalfOpen: true }, (from) => {
  const to = net.connect({ path: socket, allowHalfOpen: true });
  from.pipe(to).pipe(from);
  from.on("error", () => to.destroy());
  to.on("error", () => from.destroy());
}).listen(0, "127.0.0.1", () => {
  const port = String(server.address().port);
  const env = { ...process.env, PORT: port, BASE_URL: "http://127.0.0.1:" + port };
  const child = spawn(command, args, { env, stdio: "inherit" });
  child.on("error", (error) => { console.error(command + ": " + error.message); process.exit(127); });
  child.on("exit", (code, signal) => process.exit(signal === null ? code : 128 + constants.signals[signal]));
});
`;

/** Runs a command for which each agreed address is there: \`node -e TEXT folder listens command …\`. */
export const REACH = `
const { spawn } = require("node:child_process");
const net = require("node:net");
const { constants } = require("node:os");
const { join } = require("node:path");
delete process.env.${AS_ENGINE};
const [folder, listens, command, ...args] = process.argv.slice(1);
const fail = (why) => { console.error(why); process.exit(126); };
const listen = ({ address, port, socket }) => new Promise((done) => {
  const server = net.createServer({ allowHalfOpen: true }, (from) => {
    const to = net.connect({ path: join(folder, socket), allowHalfOpen: true });
    from.pipe(to).pipe(from);
    from.on("error", () => to.destroy());
    to.on("error", () => from.destroy());
    to.on("close", () => from.destroy());
  });
  server.on("error", (error) => fail("the way to " + address + ":" + port + " could not be opened: " + error.message));
  server.listen(port, address, done);
});
Promise.all(JSON.parse(listens).map(listen)).then(() => {
  const child = spawn(command, args, { stdio: "inherit" });
  child.on("error", (error) => { console.error(command + ": " + error.message); process.exit(127); });
  child.on("exit", (code, signal) => process.exit(signal === null ? code : 128 + constants.signals[signal]));
});
`;
