import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { readResponse } from "../../src/acceptance/http-check.js";
import { bwrapAvailable } from "../../src/process/index.js";
import { type Bench, bench } from "./room.js";

const held = await bwrapAvailable(process.env);
let asked: string[] = [];
const server = createServer((request, response) => {
  asked.push(`${request.method} ${request.url} ${request.headers.authorization ?? "-"}`);
  if (request.url === "/away") response.writeHead(302, { location: "http://192.0.2.1/" }).end();
  else if (request.url === "/hang") return;
  else response.writeHead(200, { "content-type": "application/json" }).end('{"users":[]}');
});
let base: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

let open: Bench[] = [];
afterEach(() => {
  asked = [];
  for (const { remove } of open) remove();
  open = [];
});
const make = (...args: Parameters<typeof bench>): Bench => {
  const made = bench(...args);
  open.push(made);
  return made;
};
const endpoints = (extra: object = {}) => ({
  "apis/endpoints.json": JSON.stringify({
    base_url: base,
    endpoints: [
      { method: "GET", path: "/users" },
      { method: "GET", path: "/users/{id}" },
      { method: "POST", path: "/users" },
      { method: "GET", path: "/away" },
      { method: "GET", path: "/hang" },
    ],
    ...extra,
  }),
});

describe("api_test with an endpoint", () => {
  it("compares status, headers and body", async () => {
    const { outcomes } = make(
      [
        {
          id: "ok",
          type: "api_test",
          endpoint: "GET /users",
          expected: { status_code: 200, body_contains: "users", headers: { "Content-Type": "application/json" } },
        },
        { id: "param", type: "api_test", endpoint: "GET /users/7?x=1", expected: { status_code: 200 } },
        { id: "status", type: "api_test", endpoint: "POST /users", body: { a: 1 }, expected: { status_code: 201 } },
        { id: "body", type: "api_test", endpoint: "GET /users", expected: { body_contains: "bob" } },
        { id: "header", type: "api_test", endpoint: "GET /users", expected: { headers: { "x-none": "1" } } },
        { id: "redirect", type: "api_test", endpoint: "GET /away", expected: { status_code: 302 } },
        { id: "hang", type: "api_test", endpoint: "GET /hang", timeout_seconds: 0.3 },
        { id: "undeclared", type: "api_test", endpoint: "DELETE /users" },
        { id: "elsewhere", type: "api_test", endpoint: "GET /users", base_url: "http://192.0.2.1" },
      ],
      endpoints(),
      { a: "" },
    );
    expect(await outcomes({ baseline: false, allowOrigins: [base] })).toEqual({
      ok: "passed",
      param: "passed",
      status: "failed: status 200, expected 201",
      body: 'failed: the body does not contain "bob"',
      header: "failed: there is no header x-none",
      redirect: "passed",
      hang: `failed: ${base}/hang: no answer within 0.3 s`,
      undeclared: "failed: DELETE /users is not declared in apis/endpoints.json",
      elsewhere:
        "failed: http://192.0.2.1/users is neither declared by the request nor allowed: --allow-origin http://192.0.2.1",
    });
  });

  it("sends a scoped credential, and never shows it", async () => {
    const { accept } = make(
      [{ id: "a", type: "api_test", endpoint: "GET /users", expected: { status_code: 200 } }],
      endpoints({ auth: { credential_ref: "api" } }),
      { a: "" },
    );
    const report = await accept({
      allowOrigins: [base],
      credentials: async (name) => (name === "api" ? { type: "bearer_token", value: "t0ken", env: {} } : null),
    });
    expect(asked[0]).toBe("GET /users Bearer t0ken");
    expect(JSON.stringify(report)).not.toContain("t0ken");
  });

  it("serves the result itself, without a network, and asks it", async () => {
    const serve = (status: number) =>
      `require("node:http").createServer((q, r) => r.writeHead(${status}).end("hi " + q.url)).listen(process.env.PORT, "127.0.0.1");\n`;
    const { accept } = make(
      [
        {
          id: "up",
          type: "api_test",
          endpoint: "GET /users",
          start: "tests/start.sh",
          expected: { status_code: 200, body_contains: "hi /users" },
        },
        { id: "dead", type: "api_test", endpoint: "GET /users", start: "tests/dead.sh" },
      ],
      {
        ...endpoints(),
        "tests/start.sh": "#!/bin/sh\nexec node files/server.js\n",
        "tests/dead.sh": "exit 9\n",
        "files/server.js": serve(500),
      },
      { "files/server.js": serve(200) },
    );
    const { results } = await accept();
    expect(results).toMatchObject([
      { id: "up", status: "passed", evidence: "proven" },
      { id: "dead", status: "failed", reason: "tests/dead.sh ended with 9 before it could be asked" },
    ]);
    expect(results[0]!.proves_nothing).toBeUndefined();
  });
});

describe("a check that asks a program of its own", () => {
  const server = (answer: string) =>
    `require("node:http").createServer((q, r) => r.end(${answer})).listen(process.env.PORT, "127.0.0.1");\n`;
  const ASK = "fetch(process.env.BASE_URL).then((r) => r.text()).then((t) => { if (t !== '5') process.exit(1); });\n";

  it("asks it from another room, which the program cannot see", async () => {
    const seen =
      'require("node:fs").readdirSync("/proc").filter((n) => /^\\d+$/.test(n) && /ask[.]mjs/.test(require("node:fs").readFileSync("/proc/" + n + "/cmdline", "utf8"))).length === 0 ? "5" : "seen"';
    const { accept } = make(
      [
        { id: "script", type: "shell", script: "tests/ask.mjs", start: "tests/start.sh" },
        {
          id: "api",
          type: "api_test",
          script: "tests/curl.mjs",
          start: "tests/start.sh",
          expected: { body_contains: "5" },
        },
      ],
      {
        "tests/start.sh": "exec node files/server.js\n",
        "tests/ask.mjs": `#!/usr/bin/env node\n${ASK}`,
        "tests/curl.mjs":
          "#!/usr/bin/env node\nfetch(process.env.BASE_URL).then(async (r) => console.log('HTTP/1.1 ' + r.status + ' OK\\nx-a: 1\\n\\n' + (await r.text())));\n",
        "files/server.js": server('"4"'),
      },
      { "files/server.js": server(held ? seen : '"5"') },
    );
    const { results } = await accept();
    expect(results).toMatchObject([
      { id: "script", status: "passed", before: "failed" },
      { id: "api", status: "passed", before: "failed" },
    ]);
  });
});

describe("api_test with a script", () => {
  it("reads the response the script prints", async () => {
    const respond = (text: string) => `printf '${text}'\n`;
    const { outcomes } = make(
      [
        {
          id: "ok",
          type: "api_test",
          script: "tests/ok.sh",
          expected: { status_code: 200, body_contains: "users", headers: { "x-a": "1" } },
        },
        { id: "bare", type: "api_test", script: "tests/bare.sh", expected: { status_code: 429 } },
        { id: "none", type: "api_test", script: "tests/none.sh", expected: { status_code: 200 } },
        { id: "exit", type: "api_test", script: "tests/exit.sh", expected: { status_code: 200 } },
      ],
      {
        "tests/ok.sh": respond("HTTP/1.1 100 Continue\\r\\n\\r\\nHTTP/1.1 200 OK\\r\\nX-A: 1\\r\\n\\r\\n{users}"),
        "tests/bare.sh": respond("too many\\n429"),
        "tests/none.sh": respond("fine"),
        "tests/exit.sh": `${respond("HTTP/1.1 200 OK\\r\\n\\r\\n")}exit 1\n`,
      },
      { a: "" },
    );
    expect(await outcomes({ baseline: false })).toEqual({
      ok: "passed",
      bare: "passed",
      none: "failed: expected status 200, but the script printed none (curl -i does)",
      exit: "failed: exit 1, expected 0",
    });
  });

  it("takes the last response of several", () => {
    expect(readResponse("HTTP/2 301\nlocation: /b\n\nHTTP/2 200\nx: y: z\n\nbody\n\nmore")).toEqual({
      status: 200,
      headers: { x: "y: z" },
      body: "body\n\nmore",
    });
  });
});
