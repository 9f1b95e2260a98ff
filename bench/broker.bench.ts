// What the broker costs: a small request, a long answer, memory, a simple query; each against the same without it, in turns.
//   npx tsx bench/broker.bench.ts [--quick] [--rounds 2000] [--megabytes 256]
// The service, a plain Node pass-through and the broker are processes of their own. Needs a build; PostgreSQL where it is there.
import { type ChildProcess, spawn } from "node:child_process";
import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, get, request } from "node:http";
import { connect, type Socket } from "node:net";
import { startBroker } from "../src/broker/index.js";
import { brokerProgram } from "../src/run/agents/programs.js";
import { canServe, startDatabase } from "../tests/broker/database.js";

const number = (flag: string, otherwise: number) => Number(process.argv[process.argv.indexOf(flag) + 1]) || otherwise;
const quick = process.argv.includes("--quick");
const rounds = number("--rounds", quick ? 500 : 2_000);
const megabytes = number("--megabytes", quick ? 64 : 256);
const SECRET = "canary-7d1f9a4be23c5860";

const SERVICE = `
const chunk = Buffer.from(require("node:crypto").randomBytes(48 * 1024).toString("base64"));
require("node:http").createServer((request, response) => {
  const [, size] = /big=(\\d+)/.exec(request.url) ?? [];
  if (request.method === "POST") return request.resume().on("end", () => response.end("{}"));
  if (size === undefined) return response.end('{"ok":true,"items":[1,2,3]}');
  let left = Math.ceil(Number(size) / chunk.length) * chunk.length;
  if (request.url.includes("fixed")) response.setHeader("content-length", left);
  const more = () => { while (left > 0) { left -= chunk.length; if (!response.write(chunk)) return response.once("drain", more); } response.end(); };
  more();
}).listen(0, "127.0.0.1", function () { console.log(this.address().port); });`;
const PLAIN = `
const http = require("node:http");
const agent = new http.Agent({ keepAlive: true });
http.createServer((request, response) => {
  const out = http.request({ host: "127.0.0.1", port: process.argv[1], method: request.method, path: request.url, headers: request.headers, agent }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  request.pipe(out);
}).listen(0, "127.0.0.1", function () { console.log(this.address().port); });`;

const children: ChildProcess[] = [];
async function start(program: string, ...args: string[]): Promise<string> {
  const child = spawn(process.execPath, ["-e", program, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  const [line] = (await once(child.stdout!, "data")) as [Buffer];
  return `http://127.0.0.1:${line.toString().trim()}`;
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
function ask(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent }, (answer) => {
      let bytes = 0;
      answer.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
      });
      answer.on("end", () => resolve(bytes));
      answer.on("error", reject);
    });
    request.on("error", reject);
  });
}

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
const rows: string[][] = [["work", "through the broker", "without", "difference", "target", "ok"]];
const report = (...row: string[]) => {
  rows.push(row);
  console.error(row.join(" | "));
};

/** As little of a client as can ask: one query at a time. */
class Client {
  readonly #socket: Socket;
  #heard: Buffer = Buffer.alloc(0);
  #wake: () => void = () => {};

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (chunk) => {
      this.#heard = Buffer.concat([this.#heard, chunk]);
      this.#wake();
    });
  }

  static async open(port: number, user: string, password: string): Promise<Client> {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    const client = new Client(socket);
    const body = Buffer.from(`user\0${user}\0database\0postgres\0\0`);
    socket.write(Buffer.concat([int(body.length + 8), int(196_608), body]));
    let [first, last, salted] = ["", "", Buffer.alloc(0)];
    const nonce = randomBytes(12).toString("base64");
    for (;;) {
      const { type, body: said } = await client.#next();
      if (type === "E") throw new Error(said.toString());
      if (type === "Z") return client;
      if (type !== "R") continue;
      const kind = said.readInt32BE(0);
      if (kind === 3) client.#send("p", Buffer.from(`${password}\0`));
      if (kind === 10) {
        const hello = Buffer.from(`n,,n=,r=${nonce}`);
        client.#send("p", Buffer.concat([Buffer.from("SCRAM-SHA-256\0"), int(hello.length), hello]));
      }
      if (kind === 11) {
        first = said.subarray(4).toString();
        const fields = Object.fromEntries(first.split(",").map((part) => [part[0], part.slice(2)]));
        last = `c=biws,r=${fields.r}`;
        salted = pbkdf2Sync(password, Buffer.from(fields.s!, "base64"), Number(fields.i), 32, "sha256");
        const hmac = (key: Buffer, text: string) => createHmac("sha256", key).update(text).digest();
        const key = hmac(salted, "Client Key");
        const sign = hmac(createHash("sha256").update(key).digest(), `n=,r=${nonce},${first},${last}`);
        client.#send(
          "p",
          Buffer.from(`${last},p=${Buffer.from(key.map((byte, i) => byte ^ sign[i]!)).toString("base64")}`),
        );
      }
    }
  }

  async query(sql: string): Promise<void> {
    this.#send("Q", Buffer.from(`${sql}\0`));
    while ((await this.#next()).type !== "Z");
  }

  end(): void {
    this.#socket.destroy();
  }

  #send(type: string, body: Buffer): void {
    this.#socket.write(Buffer.concat([Buffer.from(type), int(body.length + 4), body]));
  }

  async #next(): Promise<{ type: string; body: Buffer }> {
    while (this.#heard.length < 5 || this.#heard.length < this.#heard.readInt32BE(1) + 1) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const end = this.#heard.readInt32BE(1) + 1;
    const message = { type: String.fromCharCode(this.#heard[0]!), body: this.#heard.subarray(5, end) };
    this.#heard = this.#heard.subarray(end);
    return message;
  }
}

const service = await start(SERVICE);
const plain = await start(PLAIN, new URL(service).port);
const plainPid = children.at(-1)!.pid!;
const database = canServe ? await startDatabase(SECRET) : null;
const pids = () => new Set(spawnedBelow(process.pid));
const before = pids();
const broker = await startBroker(
  { ...brokerProgram(), env: process.env },
  { allowOrigins: [service, ...(database === null ? [] : [`postgres://127.0.0.1:${database.port}`])] },
);
const brokerPid = [...pids()].find((pid) => !before.has(pid))!;
const facts = { scope: undefined, expiresAt: null, manifest: {}, endpoints: null };
try {
  const api = {
    name: "api",
    type: "bearer_token",
    value: SECRET,
    restrictions: { base_url: service, rate_limit: "1000000/s" },
  };
  await broker.lend({ ...facts, credential: api });
  if (database !== null) {
    const value = { host: "127.0.0.1", port: database.port, user: "owner", password: SECRET, database: "postgres" };
    await broker.lend({ ...facts, credential: { name: "db", type: "postgresql", value } });
  }
  const { env } = await broker.admit({ by: "bench", role: null });
  await latency(env.API_URL!);
  await streaming(env.API_URL!);
  if (database !== null) await queries(env.DB_URL!, database.port);
  const [, peak = "0"] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${brokerPid}/status`, "utf8")) ?? [];
  const mb = Number(peak) / 1024;
  report("memory at its most", `${mb.toFixed(0)} MB`, "", "", "≤ 80 MB", mb <= 80 ? "yes" : "NO");
} finally {
  await broker.close();
  agent.destroy();
  for (const child of children) child.kill();
  database?.stop();
}
console.log(rows.map((row) => `| ${row.join(" | ")} |`).join("\n"));

async function latency(url: string): Promise<void> {
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (let i = 0; i < rounds + 100; i += 1) {
    for (const [to, into] of [
      [`${url}/small`, ours],
      [`${service}/small`, theirs],
    ] as const) {
      const from = performance.now();
      await ask(to);
      if (i >= 100) into.push(performance.now() - from);
    }
  }
  const added = median(ours) - median(theirs);
  report(
    "a small request, p50",
    `${median(ours).toFixed(3)} ms`,
    `${median(theirs).toFixed(3)} ms`,
    `+${added.toFixed(3)} ms`,
    "≤ +1 ms",
    added <= 1 ? "yes" : "NO",
  );
}

/** As much as an answer has, in pieces. */
function upload(url: string, size: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const piece = Buffer.from(randomBytes(48 * 1024).toString("base64"));
    const asking = request(url, { agent, method: "POST" }, (answer) => {
      answer
        .resume()
        .on("end", () => resolve(size))
        .on("error", reject);
    });
    asking.on("error", reject);
    let left = size;
    const more = () => {
      while (left > 0) {
        left -= piece.length;
        if (!asking.write(piece)) {
          asking.once("drain", more);
          return;
        }
      }
      asking.end();
    };
    more();
  });
}

async function streaming(url: string): Promise<void> {
  const size = megabytes * 1e6;
  const forms: readonly (readonly [name: string, pass: (to: string) => Promise<number>])[] = [
    [`an answer of ${megabytes} MB in chunks`, (to) => ask(`${to}/x?big=${size}`)],
    [`an answer of ${megabytes} MB of known length`, (to) => ask(`${to}/x?big=${size}&fixed`)],
    [`a request of ${megabytes} MB`, (to) => upload(`${to}/x`, size)],
  ];
  for (const [name, pass] of forms) {
    const [ours, theirs]: [number[], number[]] = [[], []];
    const spent = { ours: 0, theirs: 0 };
    for (let i = 0; i < 5; i += 1) {
      for (const [to, into, pid, who] of [
        [url, ours, brokerPid, "ours"],
        [plain, theirs, plainPid, "theirs"],
      ] as const) {
        const [from, ticks] = [performance.now(), ticksOf(pid)];
        const bytes = await pass(to);
        into.push(bytes / 1e6 / ((performance.now() - from) / 1000));
        spent[who] += ticksOf(pid) - ticks;
      }
    }
    const ratio = median(ours) / median(theirs);
    report(
      name,
      `${median(ours).toFixed(0)} MB/s`,
      `${median(theirs).toFixed(0)} MB/s (plain pass-through)`,
      `${ratio.toFixed(2)}; by processor time ${(spent.theirs / Math.max(1, spent.ours)).toFixed(2)}`,
      "≥ 0.8",
      ratio >= 0.8 ? "yes" : "NO",
    );
  }
}

/** Processor time of a process, in ticks of the clock. */
function ticksOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

async function queries(url: string, port: number): Promise<void> {
  const { username, password, port: own } = new URL(url);
  const through = await Client.open(Number(own), username, password);
  const direct = await Client.open(port, "owner", SECRET);
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (let i = 0; i < rounds + 100; i += 1) {
    for (const [client, into] of [
      [through, ours],
      [direct, theirs],
    ] as const) {
      const from = performance.now();
      await client.query("select 1");
      if (i >= 100) into.push(performance.now() - from);
    }
  }
  through.end();
  direct.end();
  const added = median(ours) - median(theirs);
  report(
    "a simple query, p50",
    `${median(ours).toFixed(3)} ms`,
    `${median(theirs).toFixed(3)} ms`,
    `+${added.toFixed(3)} ms`,
    "≤ +0.5 ms",
    added <= 0.5 ? "yes" : "NO",
  );
}

function spawnedBelow(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return text === "" ? [] : text.split(" ").map(Number);
}

function int(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
