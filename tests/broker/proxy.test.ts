// Programs that insist on a service's own https address: real ones, through the proxy, trusting what they are told to trust.
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { makeAuthority } from "../../src/broker/authority.js";
import { type Admission, type Broker, type BrokerUse, openBroker, proxyVariables } from "../../src/broker/index.js";
import { SECRET } from "./service.js";

const folder = mkdtempSync(join(tmpdir(), "nut-proxy-"));
const seen: string[] = [];
const uses: BrokerUse[] = [];
let [server, other]: (Server | undefined)[] = [];
let broker: Broker;
let lent: Admission;
let origin: string;
let otherOrigin: string;
let env: Record<string, string>;

async function serve(name: string): Promise<[Server, number, string]> {
  const authority = makeAuthority([name]);
  const made = createServer(
    { SNICallback: (host, done) => done(null, authority.contextFor(host)) },
    (request, response) => {
      seen.push(`${name} ${request.method} ${request.url} ${request.headers.authorization}`);
      response.end(`you sent ${request.headers.authorization}\n`);
    },
  );
  await new Promise<void>((resolve) => made.listen(0, "127.0.0.1", resolve));
  return [made, (made.address() as AddressInfo).port, authority.certificate];
}

beforeAll(async () => {
  const [one, port, trusted] = await serve("api.example.org");
  const [two, otherPort] = await serve("localhost");
  [server, other] = [one, two];
  origin = `https://api.example.org:${port}`;
  otherOrigin = `https://localhost:${otherPort}`;
  broker = await openBroker({
    allowOrigins: [origin],
    resolve: async () => ["127.0.0.1"],
    ca: trusted,
    onUse: (use) => uses.push(use),
  });
  const credential = {
    name: "api",
    type: "bearer_token",
    value: SECRET,
    scopes: ["read"],
    restrictions: { base_url: `${origin}/v1` },
  };
  await broker.lend({ credential, scope: undefined, expiresAt: null, manifest: {}, endpoints: null });
  lent = await broker.admit({ by: "program", role: null, proxy: "only" });
  writeFileSync(join(folder, "ca.pem"), lent.proxy!.certificate);
  const file = join(folder, "ca.pem");
  env = {
    PATH: process.env.PATH ?? "",
    HOME: "/nonexistent",
    ...proxyVariables({ url: lent.proxy!.url, authority: file, roots: file }),
  };
});
afterAll(async () => {
  await broker.close();
  for (const one of [server, other]) {
    one?.closeAllConnections();
    one?.close();
  }
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  seen.length = 0;
});

const has = (program: string) => spawnSync(program, ["--version"]).status === 0;
const run = (program: string, args: readonly string[], more: Record<string, string> = {}) =>
  new Promise<string>((resolve) => {
    execFile(program, args, { env: { ...env, ...more }, timeout: 15_000 }, (_error, out, err) => resolve(out + err));
  });
const NODE = `
const http = require("node:http"), tls = require("node:tls"), { URL } = require("node:url");
const [proxy, to] = [new URL(process.env.HTTPS_PROXY), new URL(process.argv[1])];
const auth = "Basic " + Buffer.from(proxy.username + ":" + proxy.password).toString("base64");
http.request({ host: proxy.hostname, port: proxy.port, method: "CONNECT", path: to.host, headers: { "proxy-authorization": auth } })
  .on("connect", (answer, socket) => {
    if (answer.statusCode !== 200) return console.log("refused " + answer.statusCode), socket.destroy();
    const secure = tls.connect({ socket, servername: to.hostname }, () => secure.write("GET " + to.pathname + " HTTP/1.1\\r\\nHost: " + to.host + "\\r\\nConnection: close\\r\\n\\r\\n"));
    secure.on("error", (error) => console.log(error.message)).pipe(process.stdout);
  }).end();`;

describe("the proxy", () => {
  it.each([
    ["curl", ["-sS"], true],
    ["python3", ["-c", "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode())"], true],
    ["node", ["-e", NODE], true],
  ])("serves %s", async (program, args) => {
    if (!has(program)) return;
    expect(await run(program, [...args, `${origin}/v1/users`])).toContain("you sent Bearer [redacted:api]");
    expect(seen).toEqual([`api.example.org GET /v1/users Bearer ${SECRET}`]);
  });

  it("serves git", async () => {
    const said = await run("git", ["ls-remote", `${origin}/v1/x.git`]);
    expect(seen[0], said).toBe(`api.example.org GET /v1/x.git/info/refs?service=git-upload-pack Bearer ${SECRET}`);
  });

  it.each([
    ["another method", ["-X", "DELETE", "/v1/users"], "may only read"],
    ["another path of the host", ["/v2/users"], "no credential is lent"],
    ["dots out of the base", ["--path-as-is", "/v1/../v2/users"], "servers read differently"],
    ["another Host", ["-H", "Host: evil.example", "/v1/users"], "redacted"],
  ])("holds %s", async (_name, args, words) => {
    const path = args.at(-1)!;
    const said = await run("curl", ["-sS", ...args.slice(0, -1), `${origin}${path}`]);
    expect(said).toContain(words);
    expect(said).not.toContain(SECRET);
    expect(seen.filter((line) => !line.startsWith("api.example.org GET /v1/users "))).toEqual([]);
  });

  it("leads to no other host, and to nobody without the word", async () => {
    expect(await run("node", ["-e", NODE, `${otherOrigin}/x`])).toContain("refused 403");
    const wrong = lent.proxy!.url.replace(/run:[^@]+@/, "run:wrong@");
    expect(await run("node", ["-e", NODE, `${origin}/v1/x`], { HTTPS_PROXY: wrong })).toContain("refused 407");
    expect(seen).toEqual([]);
  });

  it("tunnels other hosts where it was asked to, with nothing of the secret", async () => {
    const open = await broker.admit({ by: "program", role: null, proxy: "tunnel" });
    const said = await run("curl", ["-sSk", `${otherOrigin}/x`, "--noproxy", "", "--proxy", open.proxy!.url]);
    expect([said.trim(), seen]).toEqual(["you sent undefined", ["localhost GET /x undefined"]]);
    await open.close();
  });

  it("is vouched for by an authority that no other host is believed from", () => {
    const authority = makeAuthority(["api.example.org"]);
    const [ca, leaf] = [join(folder, "own.pem"), join(folder, "leaf.pem")];
    writeFileSync(ca, authority.certificate);
    const text = spawnSync("openssl", ["x509", "-in", ca, "-noout", "-text"], { encoding: "utf8" }).stdout;
    expect(text).toMatch(/Name Constraints: critical\s+Permitted:\s+DNS:api\.example\.org\s+Excluded:\s+IP:0\.0\.0\.0/);
    expect(text).toMatch(/CA:TRUE, pathlen:0/);
    expect(leaf).not.toBe(ca);
  });
});
