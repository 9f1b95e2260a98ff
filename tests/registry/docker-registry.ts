// Debian's docker-registry on a port of its own, ended by its process.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export const hasRegistry = spawnSync("docker-registry", ["--version"]).error === undefined;
export const hasSkopeo = spawnSync("skopeo", ["--version"]).error === undefined;

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}

export interface Running {
  readonly host: string;
  stop(): Promise<void>;
}

/** `htpasswd` is the content of such a file; without it everybody is let in. */
export async function startRegistry(folder: string, htpasswd?: string): Promise<Running> {
  const port = await freePort();
  mkdirSync(join(folder, "data"), { recursive: true });
  const auth =
    htpasswd === undefined ? "" : `auth:\n  htpasswd:\n    realm: test\n    path: ${join(folder, "htpasswd")}\n`;
  if (htpasswd !== undefined) writeFileSync(join(folder, "htpasswd"), htpasswd);
  const config = join(folder, "config.yml");
  writeFileSync(
    config,
    `version: 0.1\nlog:\n  level: error\n  accesslog:\n    disabled: true\nstorage:\n  filesystem:\n    rootdirectory: ${join(folder, "data")}\nhttp:\n  addr: 127.0.0.1:${port}\n${auth}`,
  );
  const child: ChildProcess = spawn("docker-registry", ["serve", config], { stdio: "ignore" });
  for (let tries = 0; tries < 100; tries += 1) {
    const answer = await fetch(`http://127.0.0.1:${port}/v2/`).catch(() => null);
    if (answer !== null) break;
    await sleep(100);
  }
  return {
    host: `127.0.0.1:${port}`,
    stop: () =>
      new Promise((done) => {
        child.once("close", () => done());
        child.kill("SIGKILL");
      }),
  };
}
