// An SSH key through an agent of its own: OpenSSH's agent holds the key and its hosts, in a process out here; a socket of ours
// stands in front of it, lets only logins be signed, and records them. Whoever asks gets signatures, never the key.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findProgram } from "../process/index.js";
import type { Door } from "./doors.js";
import { type Meter, Refused } from "./judge.js";
import type { Policy, SshService } from "./policy.js";
import { type BrokerUse, shortWhat } from "./use.js";

interface SshInput {
  readonly policy: Policy;
  readonly service: SshService;
  readonly meter: Meter;
  readonly door: Door;
  readonly now: () => Date;
  readonly onUse: (use: BrokerUse) => void;
}

export interface SshAgent {
  /** Holds the socket and, where hosts are known, their keys. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  close(): void;
}

const START_MS = 5_000;
/** A key nobody takes back is forgotten. */
const LONGEST_S = 24 * 3_600;

/** Throws Refused when OpenSSH's programs are not there or do not take the key. */
export async function openSshAgent(input: SshInput): Promise<SshAgent> {
  const { service, door } = input;
  const program = findProgram("ssh-agent", process.env);
  if (program === null || findProgram("ssh-add", process.env) === null)
    throw new Refused("ssh-agent and ssh-add are not installed, so the key cannot be lent");
  const folder = mkdtempSync(join(tmpdir(), "nut-ssh-"));
  // The inner socket is not in the folder that is shown.
  const inner = mkdtempSync(join(tmpdir(), "nut-ssh-"));
  const held = join(inner, "agent");
  const agent = spawn(program, ["-D", "-a", held], { stdio: "ignore", env: { PATH: process.env.PATH } });
  const remove = () => {
    agent.kill("SIGTERM");
    for (const one of [folder, inner]) rmSync(one, { recursive: true, force: true });
  };
  try {
    // Its socket is there a moment before it listens.
    for (let waited = 0; !(await answers(held)); waited += 10) {
      if (waited > START_MS || agent.exitCode !== null) throw new Refused("ssh-agent did not start");
      await sleep(10);
    }
    const known = join(folder, "known_hosts");
    if (service.knownHosts.length > 0) writeFileSync(known, `${hostLines(service).join("\n")}\n`);
    await addKey(service, held, known);
    const path = join(folder, "agent");
    const server = await listen(path, (client) => serve(client, held, input));
    const ssh: Record<string, string> =
      service.knownHosts.length === 0
        ? {}
        : { GIT_SSH_COMMAND: `ssh -o UserKnownHostsFile=${known} -o StrictHostKeyChecking=yes` };
    return {
      folder,
      env: { SSH_AUTH_SOCK: path, ...ssh },
      close: () => {
        server.close();
        for (const one of door.open) one.destroy();
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

/** `ssh-ed25519 AAAA…` alone belongs to every host that is declared. */
const hostLines = ({ knownHosts, hosts }: SshService): string[] =>
  knownHosts.map((line) => (/^(?:ssh-|ecdsa-|sk-)/.test(line) ? `${hosts.join(",")} ${line}` : line));

/** The key goes in by standard input; its hosts are held by the agent itself, for clients that bind their sessions. */
async function addKey(service: SshService, socket: string, known: string): Promise<void> {
  const { hosts, knownHosts, user } = service;
  const names = hosts.map((host) => (user === null ? host : `${user}@${host}`));
  const bound = knownHosts.length === 0 ? [] : ["-H", known, ...names.flatMap((name) => ["-h", name])];
  const child: ChildProcess = spawn("ssh-add", ["-q", "-t", String(LONGEST_S), ...bound, "-"], {
    stdio: ["pipe", "ignore", "ignore"],
    env: { PATH: process.env.PATH, SSH_AUTH_SOCK: socket, SSH_ASKPASS_REQUIRE: "never" },
  });
  child.stdin!.on("error", () => {});
  child.stdin!.end(service.key);
  const code = await new Promise((resolve) => {
    child.once("error", () => resolve(1));
    child.once("close", resolve);
  });
  if (code !== 0)
    throw new Refused("ssh-add does not take the key: it may have a passphrase, or a host that known_hosts lacks");
}

function listen(path: string, onConnection: (socket: Socket) => void): Promise<Server> {
  const server = createServer(onConnection);
  server.maxConnections = 32;
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, () => resolve(server));
  });
}

const FAILURE = Buffer.from([0, 0, 0, 1, 5]);
const LIST = 11;
const SIGN = 13;
const EXTENSION = 27;
const MOST_BYTES = 256 * 1024;

/** One message after the other; what is not asked for a login is answered by a failure and goes no further. */
function serve(client: Socket, held: string, input: SshInput): void {
  const { door } = input;
  door.open.add(client);
  const agent = connect(held);
  const stop = () => {
    door.open.delete(client);
    client.destroy();
    agent.destroy();
  };
  for (const socket of [client, agent]) {
    socket.on("error", stop);
    socket.once("close", stop);
  }
  agent.pipe(client);
  let waiting = Buffer.alloc(0);
  client.on("data", (chunk: Buffer) => {
    waiting = Buffer.concat([waiting, chunk]);
    while (waiting.length >= 5) {
      const length = waiting.readUInt32BE(0);
      if (length < 1 || length > MOST_BYTES) {
        stop();
        return;
      }
      if (waiting.length < length + 4) return;
      const message = waiting.subarray(0, length + 4);
      waiting = waiting.subarray(length + 4);
      if (judged(message.subarray(4), input)) agent.write(message);
      else client.write(FAILURE);
    }
  });
}

/** What cannot be read is not passed on. */
function judged(body: Buffer, input: SshInput): boolean {
  try {
    return isAllowed(body, input);
  } catch {
    return false;
  }
}

function isAllowed(body: Buffer, { policy, service, meter, door, now, onUse }: SshInput): boolean {
  const type = body[0];
  if (type === LIST) return true;
  const reader = new Fields(body.subarray(1));
  if (type === EXTENSION) return reader.text() === "session-bind@openssh.com";
  if (type !== SIGN) return false;
  reader.bytes();
  const login = readLogin(reader.bytes());
  const what = login === null ? "sign something that is no login" : `sign a login as ${login.user}`;
  const told = (fields: Pick<BrokerUse, "allowed" | "why">) =>
    onUse({
      name: policy.name,
      at: now().toISOString(),
      by: door.by,
      what: shortWhat(what),
      ...fields,
      sent: 0,
      received: 0,
    });
  try {
    if (login === null) throw new Refused(`credential "${policy.name}" signs logins and nothing else`);
    if (service.user !== null && login.user !== service.user)
      throw new Refused(`credential "${policy.name}" is for ${service.user}, not for ${login.user}`);
    meter.take(door.role);
    told({ allowed: true });
    return true;
  } catch (error) {
    told({ allowed: false, why: (error as Error).message });
    return false;
  }
}

/** What a client signs to log in (RFC 4252, 7): session, 50, user, service, method…; null for anything else. */
function readLogin(data: Buffer): { readonly user: string } | null {
  try {
    const fields = new Fields(data);
    fields.bytes();
    if (fields.byte() !== 50) return null;
    const user = fields.text();
    if (fields.text() !== "ssh-connection") return null;
    const method = fields.text();
    return method === "publickey" || method === "publickey-hostbound-v00@openssh.com" ? { user } : null;
  } catch {
    return null;
  }
}

/** Lengths and bytes, as SSH writes them. Throws where they do not fit. */
class Fields {
  readonly #body: Buffer;
  #at = 0;

  constructor(body: Buffer) {
    this.#body = body;
  }

  byte(): number {
    return this.#body.readUInt8(this.#at++);
  }

  bytes(): Buffer {
    const length = this.#body.readUInt32BE(this.#at);
    if (this.#at + 4 + length > this.#body.length) throw new RangeError("cut off");
    this.#at += 4 + length;
    return this.#body.subarray(this.#at - length, this.#at);
  }

  text(): string {
    return this.bytes().toString("utf8");
  }
}
