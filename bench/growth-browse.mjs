// Looks at what a server shows as a browser would, once, and ends it: node growth-browse.mjs <command line of the server>
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

const [command, ...args] = process.argv.slice(2);
const server = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
const ended = once(server, "exit");
const [link] = await Promise.race([
  once(createInterface({ input: server.stdout }), "line"),
  ended.then(([code]) => Promise.reject(new Error(`the server ended with ${code}`))),
]);
try {
  const { origin, hash } = new URL(link);
  const ask = async (path, headers) => {
    const answer = await fetch(`${origin}${path}`, { headers });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.text();
  };
  const welcome = await ask("/enter", { "x-nutcracker-link": hash.slice("#link=".length) });
  const headers = { "x-nutcracker-key": JSON.parse(welcome).key };
  for (const path of ["/", "/api/view", "/api/search?words=content"]) await ask(path, headers);
} finally {
  server.kill("SIGTERM");
  await ended;
}
