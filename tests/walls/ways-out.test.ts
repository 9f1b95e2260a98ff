// A script that is given a network tries to reach what nobody agreed to.
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { urlsIn } from "../../src/acceptance/run-check.js";
import { openWaysOut, waysTo } from "../../src/acceptance/ways-out.js";
import { findBwrap } from "../../src/process/index.js";
import { addressOf } from "../../src/schema/address.js";
import { type Bench, bench } from "../acceptance/room.js";

const held = (await findBwrap(process.env))?.network === true;

const asked: string[] = [];
const servers = [0, 1].map((index) =>
  createServer((request, response) => {
    asked.push(`${index} ${request.url}`);
    response.end(`answer ${index}`);
  }),
);
let ports: number[] = [];
beforeAll(async () => {
  await Promise.all(
    servers.map((server) => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()))),
  );
  ports = servers.map((server) => (server.address() as AddressInfo).port);
});
afterAll(() => {
  for (const server of servers) server.close();
});

const open: Bench[] = [];
afterEach(() => {
  asked.length = 0;
  for (const { remove } of open.splice(0)) remove();
});

/** Asks the declared origin, then everything else it can think of, and prints what answered. */
const SCRIPT = `#!/usr/bin/env node
const net = require("node:net");
const dgram = require("node:dgram");
const os = require("node:os");
const tcp = (host, port) => new Promise((done) => {
  const to = net.connect({ host, port, timeout: 1500 });
  to.on("connect", () => { to.destroy(); done(true); });
  for (const event of ["error", "timeout"]) to.on(event, () => { to.destroy(); done(false); });
});
const udp = () => new Promise((done) => {
  const socket = dgram.createSocket("udp4");
  socket.on("error", () => done(false));
  socket.send("x", 53, "192.0.2.1", (error) => { socket.close(); done(!error); });
});
(async () => {
  const base = new URL(process.env.BASE_URL);
  if (base.protocol === "tcp:") return console.log(await tcp(base.hostname, base.port));
  const text = await fetch(process.env.BASE_URL + "/x").then((r) => r.text(), (e) => "failed: " + e.cause?.code);
  const found = [
    ["other port", await tcp("127.0.0.1", OTHER_PORT)],
    ["public", await tcp("192.0.2.1", 80)],
    ["metadata", await tcp("169.254.169.254", 80)],
    ["name", await tcp("example.com", 80)],
    ["udp", await udp()],
    ["interfaces", Object.keys(os.networkInterfaces()).some((name) => name !== "lo")],
  ].filter(([, yes]) => yes).map(([name]) => name);
  console.log("HTTP/1.1 200 OK\\nx-a: 1\\n\\n" + text + "; reached: " + found.join(", ") + ".");
})();
`;

/** The request declares the first service; \`host\` is how it writes it. */
function service(host: string, check: object = {}): Bench {
  const made = bench(
    [
      {
        ...{ id: "a", type: "api_test", script: "tests/ask.js", base_url: `http://${host}:${ports[0]}` },
        ...{ expected: { body_contains: "answer 0; reached: ." } },
        ...check,
      },
    ],
    { "tests/ask.js": SCRIPT.replace("OTHER_PORT", String(ports[1])) },
    { a: "" },
  );
  open.push(made);
  return made;
}

describe.skipIf(!held)("a script that needs a network", () => {
  it.each(["127.0.0.1", "localhost"])(
    "reaches the origin that was agreed to, by %s, and nothing else",
    async (host) => {
      const { results } = await service(host).accept({
        ...{ baseline: false, quick: true, keepBodies: true },
        allowOrigins: [`http://${host}:${ports[0]}`],
      });
      expect(results[0]!.output).toContain("answer 0; reached: .");
      expect(results[0]).toMatchObject({ status: "passed" });
      expect(asked).toEqual(["0 /x"]);
    },
  );

  it("does not reach a service on this machine that nobody named, and is told how it would", async () => {
    const { results } = await service("127.0.0.1").accept({ baseline: false, quick: true });
    expect(results[0]).toMatchObject({
      status: "skipped",
      reason: expect.stringContaining(`--allow-origin http://127.0.0.1:${ports[0]}`),
    });
    expect(asked).toEqual([]);
  });

  it.each([80, 443])("has a way to an origin on port %d, which ends where nobody agreed", async (port) => {
    const { results } = await service("x", { base_url: `tcp://127.0.0.9:${port}` }).accept({
      ...{ baseline: false, quick: true },
    });
    expect(results[0]).toMatchObject({
      status: "skipped",
      reason: expect.stringContaining(`--allow-origin tcp://127.0.0.9:${port}`),
    });
  });

  it("is not run when the address is a number it could not be given", async () => {
    const { results } = await service("x", { base_url: "http://192.0.2.7:8080" }).accept({
      baseline: false,
      quick: true,
    });
    expect(results[0]).toMatchObject({ status: "skipped", reason: expect.stringContaining("give it a name") });
  });
});

describe("a way out", () => {
  it("is looked up at every use, and leads to no inner address that a name takes on", async () => {
    const meanings = ["127.0.0.1", "169.254.169.254"];
    const resolve = async () => [meanings.shift()!];
    const ways = await openWaysOut([{ ...addressOf(`http://api.example:${ports[0]}`)!, named: false, resolve }]);
    const ask = () =>
      new Promise<string>((done) => {
        const to = connect(join(ways.folder, ways.listens[0]!.socket));
        to.on("close", () => done("closed")).on("error", () => {});
      });
    try {
      expect([await ask(), await ask()]).toEqual(["closed", "closed"]);
      expect(ways.refused()).toContain("127.0.0.1 is on this machine or its network");
      expect(asked).toEqual([]);
    } finally {
      ways.close();
    }
  });

  it("is each address once, and named by the person alone", () => {
    const ways = waysTo(
      ["https://a.example/v1", "https://A.example:443/", "redis://b.example", "no address"],
      ["http://127.0.0.1:8080", "redis://b.example:6379"],
    );
    expect(ways.map(({ host, port, named }) => [host, port, named])).toEqual([
      ["a.example", 443, false],
      ["b.example", 6379, true],
      ["127.0.0.1", 8080, true],
    ]);
  });

  it("is where a credential says it belongs", () => {
    const urls = (type: string, value: unknown) => urlsIn({ type, value });
    expect(urls("token", "abc")).toEqual([]);
    expect(urls("postgres", "postgres://u:p@db.example/x")).toEqual(["postgres://u:p@db.example/x"]);
    expect(urls("postgres", { host: "db.example", password: "p" })).toEqual(["postgres://db.example"]);
    expect(urls("redis", { deep: { hostname: "::1", port: 6380 } })).toEqual(["tcp://[::1]:6380"]);
  });
});
