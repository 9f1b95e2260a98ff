// How an agent in a sandbox reaches our tools. The server writes the run's state, which the agent may not, so it runs out
// here, one per connection, with the role it was started for; the agent is given a socket and a program that passes on.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A program opens one connection, perhaps two when it starts its server again. */
const MOST_CONNECTIONS = 4;
/** How long a server has to answer what it was asked when its agent has gone. */
const GRACE_MS = 2_000;

export interface ToolLine {
  /** What the agent must be able to read. */
  readonly folder: string;
  readonly socket: string;
  /** Whether the agent's program has asked which tools there are: before that its model cannot know of any. */
  isListed(): boolean;
  close(): Promise<void>;
}

export interface ToolLineInput {
  readonly tools: { readonly command: string; readonly args: readonly string[] };
  readonly env: Readonly<Record<string, string>>;
  /** Whether the agent's program is known to ask: then the server loads while the program does. */
  readonly isExpected: boolean;
}

export async function openToolLine({ tools, env, isExpected }: ToolLineInput): Promise<ToolLine> {
  // A socket's path may be a hundred letters long, and a run's folder may lie deep.
  const folder = mkdtempSync(join(tmpdir(), "nut-tools-"));
  const socket = join(folder, "socket");
  const servers = new Set<ChildProcess>();
  let isListed = false;
  const start = (): ChildProcess => {
    const server = spawn(tools.command, tools.args, { cwd: "/", env: { ...env }, stdio: ["pipe", "pipe", "ignore"] });
    server.on("error", () => {});
    return server;
  };
  let early: ChildProcess | null = isExpected ? start() : null;
  early?.once("exit", () => {
    early = null;
  });
  const listener = createServer({ allowHalfOpen: true }, (connection) => {
    if (servers.size >= MOST_CONNECTIONS) {
      connection.destroy();
      return;
    }
    const server = early ?? start();
    early = null;
    servers.add(server);
    watchFor("tools/list", connection, () => {
      isListed = true;
    });
    connectTo(connection, server, () => servers.delete(server));
  });
  await new Promise<void>((resolve, reject) => {
    listener.once("error", reject);
    listener.listen(socket, resolve);
  });
  return {
    folder,
    socket,
    isListed: () => isListed,
    close: async () => {
      listener.close();
      // Nobody asked it anything: it has nothing to finish.
      early?.kill("SIGKILL");
      await Promise.all([...servers].map(ended));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Sees a word go by, however it is cut into pieces. */
function watchFor(word: string, connection: Socket, seen: () => void): void {
  let tail = "";
  const look = (chunk: Buffer) => {
    tail += chunk.toString("latin1");
    if (tail.includes(word)) {
      connection.off("data", look);
      seen();
    }
    tail = tail.slice(-word.length);
  };
  connection.on("data", look);
}

function connectTo(connection: Socket, server: ChildProcess, gone: () => void): void {
  connection.on("error", () => {});
  server.stdin!.on("error", () => {});
  const close = () => {
    gone();
    connection.destroy();
  };
  server.once("error", close);
  server.once("close", () => {
    gone();
    connection.end();
  });
  connection.once("close", () => server.stdin!.end());
  connection.pipe(server.stdin!);
  server.stdout!.pipe(connection);
}

/** Its agent is gone: it answers what it was asked, or is ended. */
function ended(server: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.kill("SIGKILL"), GRACE_MS);
    server.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
    server.stdin!.end();
  });
}
