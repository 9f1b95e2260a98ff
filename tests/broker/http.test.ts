// A web service through the broker: what an agent can do with it, and at least what it cannot.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Lender, lend, SECRET, type Service, startService, type Terms } from "./service.js";

let service: Service;
const open: Lender[] = [];
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());
beforeEach(() => {
  service.seen.length = 0;
});
afterEach(async () => {
  await Promise.all(open.splice(0).map(({ broker }) => broker.close()));
});

async function lender(terms: Terms = {}, more: Parameters<typeof lend>[2] = {}): Promise<Lender> {
  const one = await lend(service, terms, more);
  open.push(one);
  return one;
}

const shapes = [
  SECRET,
  Buffer.from(SECRET).toString("hex"),
  ...[0, 1, 2].map((skip) =>
    Buffer.from("x".repeat(skip) + SECRET)
      .toString("base64")
      .slice(skip === 0 ? 0 : 4, -4),
  ),
];
const holdsSecret = (text: string) =>
  shapes.some((shape) => text.includes(shape)) ||
  decodeURIComponent(text.replace(/%(?![0-9a-f]{2})/gi, "%25")).includes(SECRET);

describe("a web service that is lent", () => {
  it("is used with its secret by somebody who has none", async () => {
    const { url, env, uses } = await lender();
    const answer = await fetch(`${url}/users?limit=2`, { headers: { authorization: `Bearer ${env.API}` } });
    expect(answer.status).toBe(200);
    expect(service.seen[0]).toMatchObject({ method: "GET", url: "/v1/users?limit=2" });
    expect(service.seen[0]!.headers.authorization).toBe(`Bearer ${SECRET}`);
    expect(await answer.text()).toContain("[redacted:api]");
    expect(JSON.stringify(env)).not.toContain(SECRET);
    expect(uses).toMatchObject([
      { name: "api", by: "engineer-1", what: `GET ${service.origin}/v1/users`, allowed: true, status: 200 },
    ]);
    expect(uses[0]!.received).toBeGreaterThan(100);
  });

  it.each([
    [
      "basic",
      { type: "basic", value: { username: "u", password: SECRET } },
      "authorization",
      `Basic ${Buffer.from(`u:${SECRET}`).toString("base64")}`,
    ],
    [
      "basic as one text",
      { type: "basic_auth", value: `u:${SECRET}` },
      "authorization",
      `Basic ${Buffer.from(`u:${SECRET}`).toString("base64")}`,
    ],
    ["header", { type: "api_key" }, "x-api-key", SECRET],
    ["a named header", { type: "api_key", restrictions: { header: "X-Auth" } }, "x-auth", SECRET],
  ])("by %s", async (_name, terms, header, wanted) => {
    const { url } = await lender(terms as Terms);
    const text = await (await fetch(`${url}/x`)).text();
    expect(service.seen[0]!.headers[header]).toBe(wanted);
    expect(holdsSecret(text)).toBe(false);
  });

  it("by a query, in place of what stands there", async () => {
    const { url } = await lender({ restrictions: { query: "key" } });
    const text = await (await fetch(`${url}/x?a=1&key=mine&%6bey=too&b=2`)).text();
    expect(service.seen[0]!.url).toBe(`/v1/x?a=1&b=2&key=${SECRET}`);
    expect(holdsSecret(text)).toBe(false);
  });

  it("keeps every field of a value but its secrets", async () => {
    const { env, url } = await lender({
      value: { base_url: "https://x.example", token: SECRET, region: "eu", pin: "12" },
    });
    expect(env).toMatchObject({
      API_BASE_URL: url,
      API_REGION: "eu",
      API_TOKEN: "used-through-the-broker",
      API_PIN: "used-through-the-broker",
    });
  });

  it("passes bodies both ways, whole, whatever their size", async () => {
    const { url, uses } = await lender();
    const body = "z".repeat(3_000_000);
    const text = await (await fetch(`${url}/items`, { method: "POST", body })).text();
    expect(service.seen[0]!.body.length).toBe(body.length);
    expect(text.length).toBeGreaterThan(body.length);
    expect(uses[0]).toMatchObject({ sent: body.length, allowed: true });
  });

  it("serves forty at once", async () => {
    const { url } = await lender();
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) => fetch(`${url}/n/${i}`).then((one) => one.json())),
    );
    expect(answers.map(({ url: asked }: { url: string }) => asked)).toEqual(answers.map((_, i) => `/v1/n/${i}`));
  });

  it("leads redirects inside the service back through itself", async () => {
    const { url } = await lender();
    const answer = await fetch(`${url}/moved`);
    expect(answer.url).toMatch(/\/api\/users\?was=/);
    expect(service.seen.map(({ url: asked }) => asked.split("?")[0])).toEqual(["/v1/moved", "/v1/users"]);
    expect(service.seen[1]!.url).not.toContain(SECRET);
  });

  it("tells a refusal in words that can be acted on", async () => {
    const { url, uses } = await lender({ scopes: ["read"] });
    const answer = await fetch(`${url}/users`, { method: "DELETE" });
    expect([answer.status, await answer.json()]).toEqual([
      403,
      {
        error: {
          code: "BROKER_REFUSED",
          message: 'credential "api" may only read: GET, HEAD, OPTIONS, not DELETE',
          credential: "api",
        },
      },
    ]);
    expect(uses).toMatchObject([{ allowed: false, why: expect.stringContaining("may only read") }]);
    expect(service.seen).toEqual([]);
  });

  it("holds a rate with 429 and Retry-After", async () => {
    let now = new Date("2026-03-14T10:00:00Z");
    const { url } = await lender({ restrictions: { rate_limit: "2/min" } }, { now: () => now });
    const statuses = [];
    for (let i = 0; i < 3; i += 1) statuses.push(await fetch(`${url}/x`));
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(statuses[2]!.headers.get("retry-after")).toBe("60");
    now = new Date("2026-03-14T10:01:01Z");
    expect((await fetch(`${url}/x`)).status).toBe(200);
  });

  it.each([
    ["calls", { restrictions: { calls: 1 } }, "all of them are spent"],
    ["bytes", { restrictions: { bytes: "100" } }, "100 bytes"],
  ])("holds a number of %s", async (_name, terms, words) => {
    const { url } = await lender(terms);
    await fetch(`${url}/x`).catch(() => null);
    const second = await fetch(`${url}/x`);
    expect([second.status, await second.text()]).toEqual([403, expect.stringContaining(words)]);
  });

  it.each([
    ["the end of its time", { expiresAt: "2026-03-14T11:00:00Z" }, "has expired"],
    ["times of the day", { restrictions: { window: "09:00-11:00" } }, "from 09:00 to 11:00 UTC"],
  ])("holds %s while it is used", async (_name, terms, words) => {
    let now = new Date("2026-03-14T10:00:00Z");
    const { url } = await lender(terms, { now: () => now });
    expect((await fetch(`${url}/x`)).status).toBe(200);
    now = new Date("2026-03-14T12:00:00Z");
    expect(await (await fetch(`${url}/x`)).text()).toContain(words);
  });

  it("is for the roles it names", async () => {
    const terms = { restrictions: { roles: ["engineer"] } };
    const other = await lend(service, terms, { role: "engineer" });
    open.push(other);
    expect(other.env.API_URL).toBeDefined();
    const { env } = await other.broker.admit({ by: "reviewer-2", role: "reviewer" });
    expect(env).toEqual({});
  });

  it("is not reached through a door that was given for something else", async () => {
    const { broker } = await lender();
    const { env } = await broker.admit({ by: "other", role: null, names: [] });
    expect(env).toEqual({});
    const credential = {
      name: "second",
      type: "bearer_token",
      value: SECRET,
      restrictions: { base_url: service.origin },
    };
    await broker.lend({ credential, scope: undefined, expiresAt: null, manifest: {}, endpoints: null });
    const second = await broker.admit({ by: "other", role: null, names: ["second"] });
    expect((await fetch(second.env.SECOND_URL!.replace("/second", "/api/x"))).status).toBe(404);
    expect((await fetch(`${second.env.SECOND_URL}/x`)).status).toBe(200);
  });

  it("ends with the door it was given through", async () => {
    const { broker, url } = await lender();
    const second = await broker.admit({ by: "other", role: null });
    await second.close();
    expect((await fetch(`${second.env.API_URL}/x`)).status).toBe(401);
    expect((await fetch(`${url}/x`)).status).toBe(200);
    await broker.close();
    await expect(fetch(`${url}/x`)).rejects.toThrow();
  });
});
