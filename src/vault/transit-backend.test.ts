import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { TransitSettings } from "./backend.js";
import { rewrapTransit, transitBackend } from "./transit-backend.js";

interface Call {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, string>;
}

let server: Server;
let settings: TransitSettings;
let calls: Call[];
let reply: (call: Call) => { status?: number; headers?: Record<string, string>; body: unknown };

beforeEach(async () => {
  calls = [];
  // A server that only turns the text around.
  reply = ({ url, body }) => {
    if (url.includes("/encrypt/")) return { body: { data: { ciphertext: `vault:v1:${body.plaintext}` } } };
    if (url.includes("/rewrap/")) return { body: { data: { ciphertext: body.ciphertext!.replace("v1", "v2") } } };
    return { body: { data: { plaintext: body.ciphertext!.replace(/^vault:v\d:/, "") } } };
  };
  server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = JSON.parse(Buffer.concat(parts).toString()) as Record<string, string>;
    const call = { url: request.url!, headers: request.headers, body };
    calls.push(call);
    const { status = 200, headers = {}, body: answer } = reply(call);
    response.writeHead(status, headers).end(typeof answer === "string" ? answer : JSON.stringify(answer));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  settings = {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: "t-0k3n",
    namespace: "team/a",
  };
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const keys = (more: Partial<TransitSettings> = {}) => ({ identities: [], transit: { ...settings, ...more } });
const seal = (target = {}) => transitBackend.seal(Buffer.from("hunter22"), target, keys());
const file = (transit: object, ciphertext = "vault:v1:AAAA") => Buffer.from(JSON.stringify({ transit, ciphertext }));

describe("a vault of the transit engine", () => {
  it("is encrypted, opened and encrypted again at the server, with the token and the namespace", async () => {
    const sealed = await seal({ transitKey: "tasks", transitMount: "team/transit" });
    expect(transitBackend.recognises(sealed)).toBe(true);
    expect(await transitBackend.targetOf(sealed)).toEqual({ transitKey: "tasks", transitMount: "team/transit" });
    expect(Buffer.from(await transitBackend.open(sealed, keys())).toString()).toBe("hunter22");
    expect(Buffer.from(await rewrapTransit(sealed, keys())).toString()).toContain("vault:v2:");
    expect(calls.map(({ url }) => url)).toEqual([
      "/v1/team/transit/encrypt/tasks",
      "/v1/team/transit/decrypt/tasks",
      "/v1/team/transit/rewrap/tasks",
    ]);
    for (const { headers } of calls) {
      expect(headers).toMatchObject({ "x-vault-token": "t-0k3n", "x-vault-namespace": "team/a" });
    }
  });

  it.each(["http://vault.example:8200", "ftp://127.0.0.1", "nonsense"])("is never asked for at %s", async (address) => {
    const sealed = await seal();
    calls = [];
    await expect(transitBackend.open(sealed, keys({ address }))).rejects.toMatchObject({ code: "VAULT_BACKEND" });
    expect(calls).toEqual([]);
  });

  it.each([
    { key: "../../sys/seal", mount: "transit" },
    { key: "..", mount: "transit" },
    { key: "a", mount: "//evil.example" },
    { key: "a", mount: "../sys" },
    { key: "a?b", mount: "transit" },
  ])("names no other place of the server: %j", async (transit) => {
    await expect(transitBackend.open(file(transit), keys())).rejects.toMatchObject({ code: "VAULT_BACKEND" });
    expect(calls).toEqual([]);
  });

  it("follows a redirect on the same server, and takes the token to no other", async () => {
    const usual = reply;
    reply = (call) =>
      call.url.includes("moved") ? usual(call) : { status: 307, headers: { location: `${call.url}?moved` }, body: "" };
    expect(Buffer.from(await transitBackend.open(file({ key: "a", mount: "transit" }), keys())).length).toBe(3);
    calls = [];
    reply = ({ url }) => ({
      status: 307,
      headers: { location: `${settings.address.replace("127.0.0.1", "localhost")}${url}` },
      body: "",
    });
    const away = transitBackend.open(file({ key: "a", mount: "transit" }), keys());
    await expect(away).rejects.toMatchObject({ code: "VAULT_UNREACHABLE" });
    expect(calls).toHaveLength(1);
  });

  it.each([
    [403, "VAULT_NO_MATCHING_KEY"],
    [400, "VAULT_DAMAGED"],
    [503, "VAULT_UNREACHABLE"],
  ])("is refused when the server answers %i, without the server's words", async (status, code) => {
    reply = ({ body }) => ({
      status,
      body: { errors: [`you sent ${JSON.stringify(body)}`], data: { plaintext: "AAAA" } },
    });
    const refusal = await transitBackend
      .open(file({ key: "a", mount: "transit" }), keys())
      .catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code });
    expect(JSON.stringify(refusal) + String(refusal)).not.toContain("you sent");
  });

  it.each(["<html>", '{"data":null}', '{"data":{}}'])("is refused when the answer is %s", async (body) => {
    reply = () => ({ body });
    await expect(transitBackend.open(file({ key: "a", mount: "transit" }), keys())).rejects.toMatchObject({
      code: "VAULT_UNREACHABLE",
    });
    await expect(seal()).rejects.toMatchObject({ code: "VAULT_UNREACHABLE" });
  });

  it("needs a server that the person named", async () => {
    await expect(transitBackend.open(file({ key: "a", mount: "transit" }), { identities: [] })).rejects.toMatchObject({
      code: "VAULT_NO_MATCHING_KEY",
    });
    expect(transitBackend.recognises(file({ key: "a" }))).toBe(false);
    expect(transitBackend.recognises(file({ key: "a", mount: "b" }, "AAAA"))).toBe(false);
  });
});
