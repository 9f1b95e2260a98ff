// A request tries to have our own process ask what its sender cannot reach.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { NotReached, reach } from "../../src/acceptance/reach.js";
import { isInner } from "../../src/process/index.js";
import { isInnerTo } from "../../src/process/inner-address.js";
import { type Bench, bench } from "../acceptance/room.js";

let asked: string[] = [];
const server = createServer((request, response) => {
  asked.push(`${request.headers.host} ${request.url}`);
  response.writeHead(200, { "x-session": "canary-header" }).end("canary-body");
});
let port: number;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => server.close());

const open: Bench[] = [];
afterEach(() => {
  asked = [];
  for (const { remove } of open.splice(0)) remove();
});

/** One request that asks the loopback service, declared and all. */
function service(base: string, check: object = {}): Bench {
  const made = bench(
    [{ id: "a", type: "api_test", endpoint: "GET /secret", expected: { status_code: 200 }, ...check }],
    { "apis/endpoints.json": JSON.stringify({ base_url: base, endpoints: [{ method: "GET", path: "/secret" }] }) },
    { a: "" },
  );
  open.push(made);
  return made;
}

const ask = (url: string, more: object = {}) =>
  reach(new URL(url), {
    ...{ method: "GET", headers: {}, body: undefined, named: false, signal: AbortSignal.timeout(5_000) },
    ...more,
  });

describe("api_test", () => {
  it.each(["127.0.0.1", "localhost", "127.1", "0x7f000001", "[::ffff:127.0.0.1]"])(
    "does not ask a service on this machine that nobody named: %s",
    async (host) => {
      const { results } = await service(`http://${host}:${port}`).accept({ baseline: false });
      expect(results[0]).toMatchObject({
        status: "skipped",
        reason: expect.stringContaining("--allow-origin http://"),
      });
      expect(asked).toEqual([]);
    },
  );

  it("asks it when the person named the origin, and no other port", async () => {
    const named = [`http://127.0.0.1:${port}`];
    const good = await service(`http://127.0.0.1:${port}`).accept({ baseline: false, allowOrigins: named });
    expect(good.results[0]).toMatchObject({ status: "passed" });
    const other = await service(`http://127.0.0.1:${port}`).accept({
      baseline: false,
      allowOrigins: ["http://127.0.0.1:1"],
    });
    expect(other.results[0]).toMatchObject({ status: "skipped" });
    expect(asked).toHaveLength(1);
  });

  it("keeps what was answered out of logs unless asked to", async () => {
    const allowOrigins = [`http://127.0.0.1:${port}`];
    const headers = { "x-session": "other" };
    const quiet = await service(allowOrigins[0]!, { expected: { headers } }).accept({ baseline: false, allowOrigins });
    expect(JSON.stringify(quiet)).not.toContain("canary");
    expect(quiet.results[0]!.output).toMatch(/^HTTP 200, \d+ headers, 11 bytes/);
    const kept = await service(allowOrigins[0]!).accept({ baseline: false, allowOrigins, keepBodies: true });
    expect(kept.results[0]!.output).toContain("canary-body");
  });
});

describe("an address", () => {
  it.each([
    ...[
      "0.0.0.0",
      "10.1.2.3",
      "100.64.0.1",
      "127.0.0.2",
      "169.254.169.254",
      "172.31.0.1",
      "192.168.1.1",
      "255.255.255.255",
    ],
    ...[
      "::",
      "::1",
      "fe80::1",
      "fd00:ec2::254",
      "ff02::1",
      "::ffff:10.0.0.1",
      "64:ff9b::a00:1",
      "2002:7f00:1::",
      "::7f00:1",
      "2001:0:a00:1::",
      "64:ff9b:1::a00:1",
      "::ffff:0:a00:1",
    ],
    "168.63.129.16",
  ])("%s is on this machine or its network", (address) => {
    expect(isInner(address)).toBe(true);
  });

  it.each(["1.1.1.1", "172.32.0.1", "192.169.0.1", "100.128.0.1", "2606:4700::1111"])("%s is not", (address) => {
    expect(isInner(address)).toBe(false);
  });

  it("is inner when it is one of this machine's own, or in its network, whatever it looks like", () => {
    const own = ["203.0.113.5/24", "2606:4700:1::5/64"];
    const is = (address: string) => isInnerTo(own, address);
    expect(["203.0.113.5", "203.0.113.77", "::ffff:203.0.113.5", "2606:4700:1::1"].map(is)).toEqual(
      Array(4).fill(true),
    );
    expect(["203.0.114.5", "2606:4700:2::5"].map(is)).toEqual([false, false]);
    const mine = Object.values(networkInterfaces()).flatMap((rows = []) => rows.map(({ address }) => address));
    expect(mine.filter((address) => !isInner(address))).toEqual([]);
  });

  it("behind a name is looked at: one inner address among others is enough", async () => {
    const resolve = async () => ["93.184.216.34", "169.254.169.254"];
    await expect(ask("http://metadata.example/", { resolve })).rejects.toBeInstanceOf(NotReached);
  });

  it("is looked up once, and asked as it was looked at", async () => {
    let looked = 0;
    const resolve = async () => {
      looked += 1;
      return [looked === 1 ? "127.0.0.1" : "192.0.2.1"];
    };
    const answer = await ask(`http://rebound.example:${port}/x`, { resolve, named: true });
    expect({ status: answer.status, looked, asked }).toEqual({
      status: 200,
      looked: 1,
      asked: [`rebound.example:${port} /x`],
    });
  });
});
