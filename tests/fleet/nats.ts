// Debian's nats-server on ports of its own, ended by its process: one alone, or three as a cluster.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { connect as dial } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../registry/docker-registry.js";

export const hasNats = spawnSync("nats-server", ["--version"]).error === undefined;

export interface NatsServer {
  readonly url: string;
  readonly port: number;
  /** As a power cut would. */
  kill(): Promise<void>;
  start(): Promise<void>;
}

interface Options {
  /** Lines of its configuration. */
  readonly config?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export async function startNats(folder: string, options: Options = {}): Promise<NatsServer> {
  const port = await freePort();
  const server = serverOf(folder, port, options);
  await server.start();
  return server;
}

function serverOf(folder: string, port: number, { config = "", env = {} }: Options): NatsServer {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "nats.conf");
  const jetstream = /^jetstream/m.test(config)
    ? ""
    : `jetstream { store_dir: ${JSON.stringify(join(folder, "js"))} }\n`;
  const listen = /^listen/m.test(config) ? "" : `listen: 127.0.0.1:${port}\n`;
  writeFileSync(file, `${listen}${jetstream}${config.replace(/^listen: .*$/m, `listen: 127.0.0.1:${port}`)}`);
  let child: ChildProcess | null = null;
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    async start() {
      child = spawn("nats-server", ["-c", file, "-l", join(folder, "nats.log")], {
        cwd: folder,
        stdio: "ignore",
        env: { PATH: process.env.PATH ?? "", ...env },
      });
      for (let tries = 0; tries < 400 && !(await answers(port)); tries += 1) {
        if (child.exitCode !== null) throw new Error(`nats-server ended at once; see ${join(folder, "nats.log")}`);
        await sleep(25);
      }
    },
    kill: () =>
      new Promise<void>((done) => {
        if (child === null || child.exitCode !== null || child.signalCode !== null) return done();
        child.once("close", () => done());
        child.kill("SIGKILL");
        child = null;
      }),
  };
}

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = dial(port, "127.0.0.1");
    socket.once("data", () => {
      resolve(true);
      socket.destroy();
    });
    socket.once("error", () => resolve(false));
  });

export interface Cluster {
  readonly url: string;
  readonly servers: readonly NatsServer[];
}

export async function startCluster(folder: string): Promise<Cluster> {
  const ports = [await freePort(), await freePort(), await freePort()];
  const routes = [await freePort(), await freePort(), await freePort()];
  const servers = ports.map((port, index) =>
    serverOf(join(folder, `n${index}`), port, {
      config: [
        `server_name: n${index}`,
        "cluster {",
        "  name: fleet",
        `  listen: 127.0.0.1:${routes[index]}`,
        `  routes: [${routes.map((route) => `nats://127.0.0.1:${route}`).join(", ")}]`,
        "}",
        "",
      ].join("\n"),
    }),
  );
  await Promise.all(servers.map((server) => server.start()));
  return { url: servers.map(({ url }) => url).join(","), servers };
}
