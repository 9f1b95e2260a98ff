// What stands between a page of another site, another user or another program and the viewer or the board. In process,
// and without a browser: these must be tested where there is none.
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { NutError } from "../../src/errors.js";
import { runsFolder } from "../../src/run/index.js";
import type { Manifest } from "../../src/schema/manifest.js";
import { type BoardOptions, serveBoard } from "../../src/web/board/board.js";
import { Gate } from "../../src/web/server/gate.js";
import { sendJson, sendStream } from "../../src/web/server/respond.js";
import { type ServeOptions, type Serving, serve } from "../../src/web/server/server.js";
import { withheldRule } from "../../src/web/view/withheld.js";
import { type Asking, ask, enter, keyOf, linkOf, type Reply } from "./asking.js";
import { temporary, write } from "./folders.js";
import { project } from "./projects.js";

const stops: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

function place(): string {
  const { path, remove } = temporary();
  stops.push(remove);
  return path;
}

/** Ends with the test. */
async function running(begin: (signal: AbortSignal) => Promise<Serving>): Promise<Serving> {
  const controller = new AbortController();
  const serving = await begin(controller.signal);
  stops.push(() => {
    controller.abort();
    return serving.closed;
  });
  return serving;
}

const errors: unknown[] = [];
const links: string[] = [];
const serveRoute = (route: ServeOptions["route"]) =>
  running((signal) =>
    serve({
      port: 0,
      signal,
      command: "nutshell serve x",
      assets: new Set(["/page.js"]),
      methods: ["GET", "HEAD"],
      onLink: (link) => links.push(link),
      onError: (error) => errors.push(error),
      route,
    }),
  );
const echo: ServeOptions["route"] = async (_, response, url) => sendJson(response, url.pathname);

/** Asks as a browser that was let in. */
async function visitor({ gate, port }: Serving): Promise<(path: string, asking?: Asking) => Promise<Reply>> {
  const key = keyOf(await enter(port, gate.link));
  return (path, { headers, ...rest } = {}) => ask(port, path, { headers: { ...key, ...headers }, ...rest });
}

const FOLLOWED_LINK = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };

describe("the link", () => {
  it("lets in one page, tells the next link, and works no second time", async () => {
    const { gate, port } = await serveRoute(echo);
    const used = gate.link;
    links.length = 0;
    // Asking for its headers alone does not use it up.
    const headers = { "x-nutcracker-link": linkOf(used) };
    expect((await ask(port, "/enter", { method: "HEAD", headers })).status).toBe(403);
    const first = await enter(port, used);
    expect([first.status, keyOf(first)["x-nutcracker-key"]]).toEqual([200, expect.stringMatching(/^[\w-]{32}$/)]);
    expect(links).toEqual([gate.link]);
    expect(gate.link).not.toBe(used);
    expect((await enter(port, used)).status).toBe(403);
    expect((await enter(port, `${gate.link}x`)).status).toBe(403);
    expect((await ask(port, "/enter")).status).toBe(403);
    expect(links).toHaveLength(1);
  });

  it("is exchanged by its own page and nobody else's", async () => {
    const { gate, port } = await serveRoute(echo);
    // Another server on this machine is the same site to a browser, and as foreign to us.
    for (const site of ["cross-site", "same-site"]) {
      const headers = { "sec-fetch-site": site, "sec-fetch-mode": "cors" };
      expect((await enter(port, gate.link, headers)).status).toBe(403);
    }
    expect((await ask(port, "/", { headers: FOLLOWED_LINK })).status).toBe(200);
    expect((await enter(port, gate.link, { "sec-fetch-site": "same-origin" })).status).toBe(200);
  });
});

describe("the key", () => {
  it("is needed, whole and as a header, for all but the page itself; a cookie is nothing", async () => {
    const serving = await serveRoute(echo);
    const { port, gate } = serving;
    const welcome = await enter(port, gate.link);
    const key = keyOf(welcome);
    expect((await ask(port, "/api", { headers: key })).body).toBe('"/api"');
    expect((await ask(port, "/page.js")).status).toBe(200);
    expect((await ask(port, "/api")).status).toBe(403);
    const value = key["x-nutcracker-key"];
    for (const wrong of ["", "x", "undefined", `${value}x`, value.slice(1)])
      expect((await ask(port, "/api", { headers: { "x-nutcracker-key": wrong } })).status).toBe(403);
    for (const cookie of [`nutcracker_${port}=${value}`, `x-nutcracker-key=${value}`, `key=${value}`])
      expect((await ask(port, "/api", { headers: { cookie } })).status).toBe(403);
    for (const reply of [welcome, await ask(port, "/"), await ask(port, "/api", { headers: key })])
      expect(reply.headers["set-cookie"]).toBeUndefined();
  });

  it("belongs to one start of one server", async () => {
    const first = await serveRoute(echo);
    const key = keyOf(await enter(first.port, first.gate.link));
    const second = await serveRoute(echo);
    expect((await ask(second.port, "/api", { headers: key })).status).toBe(403);
    expect(new Gate(first.port).link).not.toBe(new Gate(first.port).link);
  });

  it("is stood in for by a ticket: one file, for half a minute", async () => {
    const serving = await serveRoute(echo);
    const { port } = serving;
    const get = await visitor(serving);
    const { ticket } = JSON.parse((await get("/ticket?for=/file/0/a.txt")).body) as { ticket: string };
    expect((await ask(port, `/file/0/a.txt?ticket=${ticket}`)).status).toBe(200);
    for (const other of [`/file/0/b.txt?ticket=${ticket}`, `/file/0/a.txt?ticket=9${ticket}`, "/file/0/a.txt?ticket="])
      expect((await ask(port, other)).status).toBe(403);
    const { ticket: wide } = JSON.parse((await get("/ticket?for=/api")).body) as { ticket: string };
    expect((await ask(port, `/api?ticket=${wide}`)).status).toBe(403);
    expect((await ask(port, "/ticket?for=/file/0/a.txt")).status).toBe(403);

    let now = 1_000;
    const gate = new Gate(port, () => now);
    const late = gate.ticket("/file/0/a.txt");
    const request = { method: "GET", url: `/file/0/a.txt?ticket=${late}`, headers: {} } as IncomingMessage;
    request.rawHeaders = ["host", `127.0.0.1:${port}`];
    const kind = () => gate.check(request, { methods: ["GET"], isPublic: () => false }).kind;
    expect(kind()).toBe("allowed");
    now += 30_000;
    expect(kind()).toBe("refused");
  });
});

describe("every answer", () => {
  const HEADERS = {
    "content-security-policy":
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
  };

  it("has its protections, refusals and the key's own included", async () => {
    const { gate, port } = await serveRoute(echo);
    expect((await ask(port, "/api")).headers).toMatchObject({ ...HEADERS, connection: "close" });
    expect((await enter(port, gate.link)).headers).toMatchObject(HEADERS);
    expect((await ask(port, "/")).headers).toMatchObject(HEADERS);
  });

  it("tells a refusal by its status, and nothing of our own mistakes", async () => {
    const codes: Readonly<Record<string, NutError["code"]>> = {
      "/404": "ENTRY_NOT_FOUND",
      "/400": "USAGE",
      "/409": "STATE_LOCKED",
      "/422": "BUNDLE_CORRUPT",
    };
    const serving = await serveRoute(async (_, response, { pathname }) => {
      const code = codes[pathname];
      if (code !== undefined) throw new NutError(code, "no such thing", { hint: "look" });
      if (pathname === "/ok") return sendJson(response, 1);
      throw new TypeError("a detail of /home/somebody");
    });
    const get = await visitor(serving);
    for (const path of Object.keys(codes)) expect((await get(path)).status).toBe(Number(path.slice(1)));
    errors.length = 0;
    const bug = await get("/bug");
    expect([bug.status, bug.body]).toEqual([500, "this is our mistake: the terminal says more\n"]);
    expect(errors).toMatchObject([{ message: "a detail of /home/somebody" }]);
    expect((await get("/ok")).status).toBe(200);
  });

  it("is cut off rather than ended when half of it is missing", async () => {
    const serving = await serveRoute((_, response) => {
      const half = async function* () {
        yield Buffer.alloc(100_000);
        throw new NutError("ENTRY_NOT_FOUND", "the rest is gone", { hint: "look" });
      };
      return sendStream(response, Readable.from(half()), { type: "application/octet-stream" });
    });
    const get = await visitor(serving);
    await expect(get("/")).rejects.toThrow();
  });
});

describe("the server", () => {
  /** What became of a connection: refused, cut, or open. */
  async function knock(host: string, port: number): Promise<{ socket: Socket; state: () => string }> {
    let state = "open";
    const socket = connect(port, host);
    socket.on("error", () => {
      state = "refused";
    });
    socket.on("close", () => {
      state = state === "open" ? "cut" : state;
    });
    stops.push(() => void socket.destroy());
    await new Promise<void>((resolve) => {
      socket.once("connect", resolve);
      socket.once("error", () => resolve());
    });
    return { socket, state: () => state };
  }

  it("listens on 127.0.0.1 alone", async () => {
    const { port } = await serveRoute(echo);
    expect((await knock("127.0.0.1", port)).state()).toBe("open");
    expect((await knock("127.0.0.2", port)).state()).toBe("refused");
  });

  it("holds at most 64 connections", async () => {
    const { port } = await serveRoute(echo);
    const all = await Promise.all(Array.from({ length: 70 }, () => knock("127.0.0.1", port)));
    const cut = () => all.filter(({ state }) => state() !== "open").length;
    for (let tries = 0; cut() < 6 && tries < 100; tries += 1) await sleep(20);
    expect(cut()).toBe(6);
  });

  it("reads no address longer than any of its own", async () => {
    const get = await visitor(await serveRoute(echo));
    expect((await get(`/${"a".repeat(8_000)}`)).status).toBe(200);
    expect((await get(`/${"a".repeat(8_192)}`)).status).toBe(400);
  });
});

describe("the viewer", () => {
  it.each([
    ["credentials/vault.enc.json", true],
    ["./credentials/notes.md", true],
    ["Credentials/NOTES.md", true],
    ["Secrets/Keys.txt", true],
    ["apis/token.ref", true],
    ["deep/vault.age", true],
    ["context/credentials.md", false],
    ["files/vault.ts", false],
  ])("withholds %s: %j", (path, withheld) => {
    const manifest = { credentials: { vault: "secrets/keys.txt" }, apis: { credential_ref: "./APIS/token.ref" } };
    expect(withheldRule(manifest as unknown as Manifest)(path)).toBe(withheld);
  });
});

describe("the board", () => {
  const board = (root: string, options: Partial<BoardOptions> = {}) =>
    running((signal) =>
      serveBoard({
        projects: [root],
        port: 0,
        write: false,
        env: {},
        signal,
        now: () => new Date(),
        command: "nexus board",
        startAgain: "nexus board",
        judge: () => Promise.reject(new Error("nothing to judge here")),
        fleet: null,
        onLink: () => {},
        onError: (error) => errors.push(error),
        ...options,
      }),
    );
  const shop = () => {
    const root = join(place(), "shop");
    write(root, project({ tasks: 4, agents: 1 }));
    return root;
  };
  const REOPEN = '{"project":0,"action":"reopen","task":1}';
  const statusOf = (root: string) =>
    JSON.parse(readFileSync(join(root, ".nexus/state/tasks.json"), "utf8")).tasks[0].status;

  it("takes no change unless it was started to", async () => {
    const root = shop();
    const get = await visitor(await board(root));
    const headers = { "content-type": "application/json" };
    expect((await get("/api/change", { method: "POST", headers, body: REOPEN })).status).toBe(405);
    expect(statusOf(root)).toBe("completed");
  });

  it("takes a change as JSON with the page's key, and nothing else", async () => {
    const root = shop();
    const serving = await board(root, { write: true });
    const key = keyOf(await enter(serving.port, serving.gate.link));
    const change = async (headers: Readonly<Record<string, string>>, body = REOPEN, path = "/api/change") =>
      (await ask(serving.port, path, { method: "POST", headers, body })).status;
    const json = { "content-type": "application/json" };
    const full = { ...json, ...key };
    expect(await change(json)).toBe(403);
    expect(await change({ ...json, "x-nutcracker-key": "guess" })).toBe(403);
    expect(await change({ ...json, cookie: `nutcracker_${serving.port}=${key["x-nutcracker-key"]}` })).toBe(403);
    expect(await change({ ...full, "content-type": "text/plain" })).toBe(415);
    expect(await change(full, "[")).toBe(400);
    // A yes names what it is given to; nothing agrees to everything.
    for (const agree of ["all", "", `sha256:${"0".repeat(64)},all`])
      expect(await change(full, REOPEN.replace("}", `,"agreed":{"agree":"${agree}","install":true}}`))).toBe(400);
    expect(await change(full, REOPEN + " ".repeat(513 * 1024))).toBe(400);
    expect(await change(full, '{"project":7,"action":"reopen","task":1}')).toBe(400);
    expect(await change(full, REOPEN, "/events")).toBe(404);
    expect(await change(full, '{"project":0,"action":"resume","run":"../../other"}')).toBe(422);
    expect(await change(full, '{"project":0,"action":"run","command":"id"}')).toBe(400);
    expect(statusOf(root)).toBe("completed");
    expect(await change(full)).toBe(200);
    expect(statusOf(root)).toBe("pending");
  });

  it("shows artifacts and nothing beside them, by name or by link", async () => {
    const root = shop();
    const artifacts = join(root, ".nexus/state/artifacts");
    symlinkSync("../plan.json", join(artifacts, "plan.md"));
    symlinkSync("..", join(artifacts, "up"));
    mkdirSync(join(artifacts, "folder"));
    const get = await visitor(await board(root));
    const artifact = (name: string) => get(`/api/artifact?project=0&name=${encodeURIComponent(name)}`);
    expect((await artifact("notes/research.md")).body).toContain("Three services.");
    for (const name of [
      "../plan.json",
      "plan.md",
      "up/plan.json",
      "/etc/passwd",
      "folder",
      "",
      "notes/../../plan.json",
      "notes/../notes/research.md",
    ]) {
      const { status, body } = await artifact(name);
      expect([name, status, body]).toEqual([name, 404, "there is no such artifact\n"]);
    }
  });

  it("shows what a session was told and said, as it grows, and nothing beside it", async () => {
    const root = shop();
    const run = "20260101-000000-aaaa";
    const agent = join(runsFolder(root), run, "agents/engineer-1");
    const line = '{"at":"2026-01-01T00:00:00Z","type":"message","text":"hello"}\n';
    write(agent, { "log.jsonl": `${line}{"half`, "prompt.md": "do it", "secret.txt": "SECRET" });
    symlinkSync("/etc/passwd", join(agent, "report.md"));
    const get = await visitor(await board(root));
    const ask = async (part: string, { from = "0", name = "engineer-1", id = run } = {}) =>
      get(`/api/session?project=0&${new URLSearchParams({ run: id, agent: name, part, from })}`);
    // Half a line is none yet.
    expect(JSON.parse((await ask("log")).body)).toEqual({ text: line, next: line.length, more: false });
    expect(JSON.parse((await ask("log", { from: String(line.length) })).body).text).toBe("");
    expect(JSON.parse((await ask("prompt")).body).text).toBe("do it");
    expect(JSON.parse((await ask("log", { name: "engineer-9" })).body).text).toBe("");
    const wrong = [
      await ask("report"),
      await ask("secret.txt"),
      await ask("constructor"),
      await ask("log", { from: "-1" }),
      await ask("log", { from: "x" }),
      await ask("prompt", { name: "../engineer-1" }),
      await ask("prompt", { name: ".." }),
      await ask("prompt", { id: "../runs/20260101-000000-aaaa" }),
    ];
    expect(wrong.map(({ status }) => status)).toEqual(wrong.map(() => 404));
  });

  it("puts nothing into its events that would let somebody in", async () => {
    const serving = await board(shop(), { write: true });
    const key = keyOf(await enter(serving.port, serving.gate.link));
    const controller = new AbortController();
    const response = await fetch(`http://127.0.0.1:${serving.port}/events`, {
      headers: key,
      signal: controller.signal,
    });
    const { value } = await response.body!.getReader().read();
    controller.abort();
    const text = Buffer.from(value!).toString("utf8");
    expect(text).toContain('"mayWrite":true');
    for (const secret of [key["x-nutcracker-key"], linkOf(serving.gate.link)]) expect(text).not.toContain(secret);
  });
});
