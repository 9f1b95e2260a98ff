import { AS_ENGINE } from "../process/index.js";

// A small program of its own, run by Node inside the clean room: starts the service, waits until it listens, asks once,
// prints the answer as JSON. Text, because the room's command must not depend on where our own files are.
export const SERVE_AND_ASK = `
const { spawn } = require("node:child_process");
const net = require("node:net");
const { readFileSync } = require("node:fs");
delete process.env.${AS_ENGINE};
const { start, method, path, headers, body, timeoutMs } = JSON.parse(readFileSync(0, "utf8"));
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
    const socket = net.connect(port, "127.0.0.1");
    socket.once("connect", () => { socket.destroy(); ask(port).catch((error) => fail(error.message)); });
    socket.once("error", () => (Date.now() > until ? fail(start + " did not listen on $PORT in time") : setTimeout(wait, 50)));
  };
  wait();
}
async function ask(port) {
  const response = await fetch("http://127.0.0.1:" + port + path, { method, headers, body, redirect: "manual", signal: AbortSignal.timeout(timeoutMs) });
  const text = (await response.text()).slice(0, 262144);
  process.stdout.write(JSON.stringify({ status: response.status, headers: Object.fromEntries(response.headers), body: text }), () => process.exit(0));
}
`;
