// A repository over HTTP whose token is lent: git as it is, by git's own server.
import { execFile, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Broker, type BrokerUse, openBroker } from "../../src/broker/index.js";
import { SECRET } from "./service.js";

const backend = join(execFileSync("git", ["--exec-path"], { encoding: "utf8" }).trim(), "git-http-backend");
const folder = mkdtempSync(join(tmpdir(), "nut-git-"));
const quiet = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null", HOME: folder, PATH: process.env.PATH };
const WHO = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"];
const git = (...args: string[]) =>
  execFileSync("git", [...WHO, ...args], { env: quiet, stdio: "pipe", encoding: "utf8" });

let server: Server;
let origin: string;
const brokers: Broker[] = [];
const strangers: string[] = [];

/** git's CGI program, for whoever brings the token. */
function serve(): Server {
  const wanted = `Basic ${Buffer.from(`x-access-token:${SECRET}`).toString("base64")}`;
  return createServer((request, response) => {
    if (request.headers.authorization !== wanted) {
      strangers.push(`${request.method} ${request.url}`);
      response.writeHead(401, { "www-authenticate": "Basic" }).end();
      return;
    }
    const [path, query = ""] = request.url!.split("?");
    const child = spawn(backend, [], {
      env: {
        ...quiet,
        ...{
          GIT_PROJECT_ROOT: folder,
          GIT_HTTP_EXPORT_ALL: "1",
          PATH_INFO: path,
          QUERY_STRING: query,
          REMOTE_USER: "a",
        },
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers["content-type"] ?? "",
        HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
        GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
      },
    });
    request.pipe(child.stdin);
    const parts: Buffer[] = [];
    child.stdout.on("data", (part: Buffer) => parts.push(part));
    child.stdout.on("end", () => {
      const whole = Buffer.concat(parts);
      const end = whole.indexOf("\r\n\r\n");
      const rows = whole
        .subarray(0, end)
        .toString("latin1")
        .split("\r\n")
        .map((row) => row.split(/:\s*/, 2) as [string, string]);
      const status = Number(rows.find(([name]) => name === "Status")?.[1].split(" ")[0] ?? 200);
      response
        .writeHead(status, Object.fromEntries(rows.filter(([name]) => name !== "Status")))
        .end(whole.subarray(end + 4));
    });
  });
}

async function lend(scopes: string[]) {
  const uses: BrokerUse[] = [];
  const broker = await openBroker({ allowOrigins: [origin], onUse: (use) => uses.push(use) });
  brokers.push(broker);
  const credential = {
    name: "source",
    type: "git",
    value: SECRET,
    scopes,
    restrictions: { repository: `${origin}/repo.git` },
  };
  await broker.lend({ credential, scope: undefined, expiresAt: null, manifest: {}, endpoints: null });
  const { env } = await broker.admit({ by: "engineer-1", role: null });
  const run = (...args: string[]) =>
    new Promise<{ code: number; text: string }>((resolve) => {
      execFile("git", [...WHO, ...args], { env: { ...quiet, ...env }, timeout: 20_000 }, (error, out, err) =>
        resolve({ code: Number(error?.code ?? 0), text: out + err }),
      );
    });
  return { run, uses, env };
}

describe.skipIf(!existsSync(backend))("a repository whose token is lent (needs git-http-backend)", () => {
  beforeAll(async () => {
    git("init", "-q", join(folder, "first"));
    writeFileSync(join(folder, "first/a.txt"), "a\n");
    git("-C", join(folder, "first"), "add", ".");
    git("-C", join(folder, "first"), "commit", "-qm", "a");
    for (const name of ["repo.git", "other.git"])
      git("clone", "-q", "--bare", join(folder, "first"), join(folder, name));
    git("-C", join(folder, "repo.git"), "config", "http.receivepack", "true");
    server = serve();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    await Promise.all(brokers.splice(0).map((broker) => broker.close()));
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function pushes(scopes: string[], name: string) {
    const lent = await lend(scopes);
    const copy = join(folder, name);
    // Without .git, as people write it.
    expect(await lent.run("clone", "-q", `${origin}/repo`, copy)).toMatchObject({ code: 0 });
    writeFileSync(join(copy, `${name}.txt`), "b\n");
    await lent.run("-C", copy, "add", ".");
    await lent.run("-C", copy, "commit", "-qm", name);
    return { ...lent, pushed: await lent.run("-C", copy, "push", "-q", "origin", "HEAD") };
  }

  it("is fetched by git as it is, and not pushed with read access", async () => {
    const { pushed, uses, env } = await pushes(["read"], "reads");
    expect(pushed.code).not.toBe(0);
    expect(uses.at(-1)).toMatchObject({ allowed: false, why: 'credential "source" may only fetch, not push' });
    expect(git("-C", join(folder, "repo.git"), "log", "--format=%s").trim()).toBe("a");
    expect(JSON.stringify([env, uses, pushed])).not.toContain(SECRET);
  });

  it("is pushed with write access", async () => {
    expect((await pushes(["read", "write"], "writes")).pushed).toMatchObject({ code: 0 });
    expect(git("-C", join(folder, "repo.git"), "log", "-1", "--format=%s").trim()).toBe("writes");
  });

  it("opens no other repository", async () => {
    const { run, uses } = await lend(["read", "write"]);
    expect((await run("ls-remote", `${origin}/other.git`)).code).not.toBe(0);
    expect(strangers.at(-1)).toContain("/other.git");
    expect((await run("ls-remote", `${origin}/repo.git/../other.git`)).code).not.toBe(0);
    expect(uses.filter(({ allowed }) => allowed)).toEqual([]);
  });
});
