// What is done to a lock to see whether it is held by one process at a time.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { build } from "esbuild";
import { WITHOUT_ADDON } from "./server-process.js";

/**
 * Processes count up under a lock and are killed; nobody may count what another counted. Every second one has no help from
 * the kernel, or none has.
 */
export async function lockKills(folder: string, processes: number, times: number, kinds: "files" | "mixed") {
  const script = join(folder, "counter.mjs");
  await build({
    stdin: {
      resolveDir: resolve("."),
      loader: "ts",
      contents: `
        import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
        import { openLock } from "./src/state/lock.js";
        const [folder] = process.argv.slice(2);
        const lock = openLock(folder + "/lock");
        const counter = folder + "/counter";
        for (;;) {
          if (!lock.tryAcquire()) { await new Promise((done) => setTimeout(done, Math.random() * 2)); continue; }
          const next = (existsSync(counter) ? Number(readFileSync(counter, "utf8")) : 0) + 1;
          const until = performance.now() + Math.random();
          while (performance.now() < until);
          // Replaced whole: a kill between emptying and filling it would count from 1 again, whatever the lock does.
          writeFileSync(counter + ".new", String(next));
          renameSync(counter + ".new", counter);
          appendFileSync(folder + "/log", next + "\\n");
          lock.release();
          process.stdout.write(".");
          await new Promise((done) => setTimeout(done, Math.random()));
        }`,
    },
    bundle: true,
    platform: "node",
    format: "esm",
    outfile: script,
    logLevel: "error",
  });
  let killed = 0;
  await Promise.all(
    Array.from({ length: processes }, async (_, who) => {
      const without = kinds === "files" || who % 2 === 0;
      // The script lies in a folder of its own; the addon is found here all the same.
      const env = { ...process.env, NODE_PATH: resolve("node_modules"), ...(without ? WITHOUT_ADDON : {}) };
      while (killed < times) {
        killed += 1;
        const child = spawn(process.execPath, [script, folder], { stdio: ["ignore", "pipe", "ignore"], env });
        await once(child.stdout!, "data");
        await sleep(Math.random() * 50);
        child.kill("SIGKILL");
        await once(child, "exit");
      }
    }),
  );
  const counted = readFileSync(join(folder, "log"), "utf8").trim().split("\n").map(Number);
  return { counted: counted.length, twice: counted.length - new Set(counted).size };
}
