// The server as a stranger meets it: raw requests, whatever a browser would never send included.
import { once } from "node:events";
import { renameSync, symlinkSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Asking, ask, enter, keyOf, type Reply } from "./asking.js";
import { request, SECRET } from "./bundles.js";
import { temporary, write } from "./folders.js";
import { run, type Served, start } from "./serving.js";

describe("the server", () => {
  const folder = temporary();
  const nut = join(folder.path, "task.nut");
  let served: Served;
  let key = { "x-nutcracker-key": "" };

  const get = (path: string, { headers = {}, ...rest }: Asking = {}, port = served.port): Promise<Reply> =>
    ask(port, path, { headers: { ...key, ...headers }, ...rest });

  /** What comes back for exactly these bytes; an empty text when the connection is cut. */
  const raw = (bytes: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect(served.port, "127.0.0.1");
      let text = "";
      socket.on("data", (data) => {
        text += data;
      });
      socket.on("error", () => resolve(text));
      socket.on("close", () => resolve(text));
      socket.write(bytes);
    });

  beforeAll(async () => {
    write(join(folder.path, "task"), request);
    const packed = await run("nutshell", ["pack", "--dir", join(folder.path, "task"), "-o", nut, "--force"]);
    if (packed.code !== 0) throw new Error(packed.stderr);
    served = await start("nutshell", ["serve", nut, "--port", "0"]);
    const welcome = await enter(served.port, served.link);
    expect(welcome.status).toBe(200);
    key = keyOf(welcome);
  });

  afterAll(async () => {
    await served?.stop();
    folder.remove();
  });

  it("lets in whoever has the key, with every protection in the answer", async () => {
    const { status, headers } = await get("/api/view");
    expect(status).toBe(200);
    expect(headers["set-cookie"]).toBeUndefined();
    expect(headers["content-security-policy"]).toMatch(/default-src 'none'; script-src 'self'; style-src 'self'/);
    expect(headers["content-security-policy"]).not.toMatch(/unsafe/);
    expect(headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
    });
    expect((await get("/", { method: "HEAD" })).body).toBe("");
  });

  it("turns the link into a key once", async () => {
    expect((await enter(served.port, served.link)).status).toBe(403);
    expect((await enter(served.port, `${served.origin}/#link=guess`)).status).toBe(403);
    for (const path of ["/api/view", "/details/0", "/preview/0/files/src/wish.ts", "/file/0/files/src/wish.ts"]) {
      expect((await ask(served.port, path)).status).toBe(403);
      expect((await ask(served.port, path, { headers: { "x-nutcracker-key": "x" } })).status).toBe(403);
    }
    const next = /http:\/\/127\.0\.0\.1:\d+\/#link=\S+/.exec(served.stderr())?.[0];
    expect(next).toBeDefined();
    expect((await enter(served.port, next!)).status).toBe(200);
  });

  it.each([
    ["a foreign name", "evil.example"],
    ["a foreign name with our port", "evil.example:PORT"],
    ["localhost", "localhost:PORT"],
    ["no port", "127.0.0.1"],
    ["another port", "127.0.0.1:1"],
    ["another spelling of the address", "127.1:PORT"],
    ["the address as one number", "2130706433:PORT"],
    ["a trailing dot", "127.0.0.1.:PORT"],
    ["a name that looks alike", "127.0.0.1.nip.io:PORT"],
    ["a user before the host", "127.0.0.1:PORT@evil.example"],
  ])("refuses a Host that is %s", async (_, host) => {
    expect((await get("/", { headers: { host: host.replace("PORT", String(served.port)) } })).status).toBe(403);
  });

  it("refuses a missing or doubled Host", async () => {
    expect(
      await raw(`GET / HTTP/1.1\r\nX-Nutcracker-Key: ${key["x-nutcracker-key"]}\r\nConnection: close\r\n\r\n`),
    ).toMatch(/^HTTP\/1\.1 40[03]|^$/);
    expect(await raw(`GET / HTTP/1.0\r\nX-Nutcracker-Key: ${key["x-nutcracker-key"]}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 403/,
    );
    const own = `127.0.0.1:${served.port}`;
    const doubled = await raw(
      `GET / HTTP/1.1\r\nHost: ${own}\r\nHost: ${own}\r\nX-Nutcracker-Key: ${key["x-nutcracker-key"]}\r\nConnection: close\r\n\r\n`,
    );
    expect(doubled).toMatch(/^HTTP\/1\.1 40[03]|^$/);
  });

  it.each(["https://evil.example", "null", "http://localhost:PORT", "https://127.0.0.1:PORT", "http://127.0.0.1"])(
    "refuses the Origin %s",
    async (origin) => {
      const own = origin.replace("PORT", String(served.port));
      expect((await get("/api/view", { headers: { origin: own } })).status).toBe(403);
    },
  );

  it("refuses what another site's page sends", async () => {
    const headers = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" };
    expect((await get("/api/view", { headers })).status).toBe(403);
    expect((await get("/api/view", { headers: { origin: served.origin } })).status).toBe(200);
  });

  it.each(["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])("answers %s with 405", async (method) => {
    const { status, headers } = await get("/", { method });
    expect([status, headers.allow]).toEqual([405, "GET, HEAD"]);
  });

  it("speaks no other protocol and is no proxy", async () => {
    const own = `127.0.0.1:${served.port}`;
    const head = `Host: ${own}\r\nX-Nutcracker-Key: ${key["x-nutcracker-key"]}\r\n`;
    expect(await raw(`GET / HTTP/1.1\r\n${head}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`)).toBe("");
    expect(await raw(`CONNECT evil.example:443 HTTP/1.1\r\n${head}\r\n`)).toBe("");
    expect(await raw(`GET http://evil.example/ HTTP/1.1\r\n${head}Connection: close\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 400/,
    );
    expect(await raw(`GET //evil.example/ HTTP/1.1\r\n${head}Connection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400/);
    expect(await raw("\x16\x03\x01\x02nonsense\r\n\r\n")).toBe("");
  });

  it.each([
    ["..", "../../../etc/passwd"],
    ["encoded dots", "%2e%2e/%2e%2e/%2e%2e/etc/passwd"],
    ["encoded slashes", "..%2f..%2f..%2fetc%2fpasswd"],
    ["double encoding", "%252e%252e%252fetc%252fpasswd"],
    ["backslashes", "..%5c..%5cetc%5cpasswd"],
    ["overlong UTF-8", "%c0%ae%c0%ae/etc/passwd"],
    ["an absolute path", "%2fetc%2fpasswd"],
    ["a NUL", "files%2fsrc%2fwish.ts%00.png"],
    ["broken encoding", "%zz"],
    ["half a character", "%e0%a4"],
    ["a file nobody listed", "package.json"],
    ["the manifest's neighbour", "./files/../nutshell.json"],
    ["another case", "FILES/SRC/WISH.TS"],
  ])("finds nothing behind %s", async (_, path) => {
    for (const kind of ["file", "preview"]) {
      const { status, body } = await get(`/${kind}/0/${path}`);
      expect([400, 404]).toContain(status);
      expect(body).not.toMatch(/root:|wish/);
    }
  });

  it("shows listed files, as text or as a download", async () => {
    const text = await get("/preview/0/files/src/wish.ts");
    expect([text.status, text.headers["content-type"]]).toEqual([200, "text/plain; charset=utf-8"]);
    expect(text.body).toContain("export const wish");
    const file = await get("/file/0/files/src/wish.ts");
    expect(file.headers).toMatchObject({
      "content-type": "application/octet-stream",
      "content-disposition": "attachment",
    });
    const picture = await get("/file/0/files/assets/sketch.png");
    expect(picture.headers).toMatchObject({
      "content-type": "image/png",
      "content-security-policy": "default-src 'none'; sandbox",
    });
  });

  it("never gives the vault away, under any address", async () => {
    for (const path of [
      "credentials/vault.enc.json",
      "credentials%2Fvault.enc.json",
      "./credentials/vault.enc.json",
      "CREDENTIALS/vault.enc.json",
    ]) {
      for (const kind of ["file", "preview"]) expect((await get(`/${kind}/0/${path}`)).status).toBe(404);
    }
    expect((await get("/api/diff?before=credentials/vault.enc.json&after=")).body).not.toContain(SECRET);
    for (const path of ["/api/view", "/details/0", "/files/0", "/files/0?now"])
      expect((await get(path)).body).not.toContain(SECRET);
  });

  it("does not follow a link that takes a file's place", async () => {
    const live = join(folder.path, "live");
    write(live, { ...request, "files/src/wish.ts": "mine\n" });
    write(join(folder.path, "outside"), { "wish.ts": SECRET });
    const other = await start("nutshell", ["serve", live, "--port", "0"]);
    try {
      const headers = keyOf(await enter(other.port, other.link));
      expect((await get("/preview/0/files/src/wish.ts", { headers }, other.port)).body).toBe("mine\n");
      renameSync(join(live, "files/src"), join(live, "files/was"));
      symlinkSync(join(folder.path, "outside"), join(live, "files/src"));
      symlinkSync(join(folder.path, "outside/wish.ts"), join(live, "context/new.md"));
      renameSync(join(live, "context/new.md"), join(live, "context/requirements.md"));
      for (const path of ["files/src/wish.ts", "context/requirements.md"]) {
        const after = await get(`/preview/0/${path}`, { headers }, other.port);
        expect(after.status).not.toBe(200);
        expect(after.body).not.toContain(SECRET);
      }
    } finally {
      await other.stop();
    }
  });

  it("cuts off a client that sends its headers too slowly", async () => {
    const socket = connect(served.port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write("GET / HTTP/1.1\r\n");
    const since = Date.now();
    const drip = setInterval(() => socket.write("X-Slow: 1\r\n"), 500);
    await once(socket, "close");
    clearInterval(drip);
    expect(Date.now() - since).toBeLessThan(20_000);
    expect((await get("/")).status).toBe(200);
  });

  it("says which port is taken, and what to type instead", async () => {
    const blocker = createServer().listen(0, "127.0.0.1");
    await once(blocker, "listening");
    const { port } = blocker.address() as { port: number };
    const { code, stdout, stderr } = await run("nutshell", ["serve", nut, "--port", String(port)]);
    blocker.close();
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(`port ${port} is taken by another program`);
    expect(stderr).toMatch(/hint: nutshell serve .*task\.nut --port \d+/);
  });

  it.each([
    [["serve"], "needs <bundle>"],
    [["serve", "no-such.nut"], "no such file"],
    [["serve", "a", "b", "c"], "needs one bundle"],
    [["serve", ".", "--port", "many"], "is not a port"],
  ])("refuses %j", async (args, message) => {
    const { code, stdout, stderr } = await run("nutshell", args, folder.path);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(message);
  });

  it("ends as interrupted programs do", async () => {
    const other = await start("nutshell", ["serve", nut, "--port", "0"]);
    expect(await other.stop()).toBe(143);
  });
});
