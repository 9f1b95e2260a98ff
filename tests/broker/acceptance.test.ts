// Checks that name a credential use it as agents do: through the broker, by the gateway's address or the service's own.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bwrapAvailable } from "../../src/process/index.js";
import { Desk } from "../vault/run.js";
import { SECRET, type Service, startService } from "./service.js";

const held = await bwrapAvailable(process.env);
let service: Service;
const desk = new Desk();
beforeAll(async () => {
  service = await startService();
});
afterAll(async () => {
  await service.close();
  desk.remove();
});

describe.skipIf(!held)("a check with a credential that is lent (needs bwrap)", () => {
  it("uses it by every usual way, and never has it", async () => {
    const { origin } = service;
    desk.folder(desk.dir, {
      acceptance: { criteria_file: "tests/criteria.json" },
      apis: { endpoints_spec: "apis/endpoints.json" },
    });
    for (const name of ["tests", "apis", "files"]) mkdirSync(join(desk.dir, name));
    const put = (name: string, value: unknown) =>
      writeFileSync(join(desk.dir, name), typeof value === "string" ? value : JSON.stringify(value));
    put("files/a.txt", "x\n");
    put("apis/endpoints.json", {
      base_url: `${origin}/v1`,
      auth: { type: "bearer", credential_ref: "api" },
      endpoints: [{ method: "GET", path: "/users" }],
    });
    const check = (id: string, command: string) => ({ id, type: "shell", credential_ref: "api", command });
    put("tests/criteria.json", {
      criteria: [
        check("gateway", 'curl -s "$API_URL/users" | grep -q redacted:api'),
        check("address", `curl -s -H "Authorization: Bearer $API" ${origin}/v1/users | grep -q redacted:api`),
        check("nowhere", `! env | grep -q ${SECRET.slice(0, 12)}`),
        check("refused", `curl -s -X DELETE ${origin}/v1/users | grep -q BROKER_REFUSED`),
        {
          id: "asked",
          type: "api_test",
          endpoint: "GET /users",
          expected: { status_code: 200, body_contains: ["redacted:api"] },
        },
        { id: "script", type: "api_test", script: "tests/ask.sh", expected: { status_code: 200 } },
      ],
    });
    put("tests/ask.sh", 'curl -si -H "Authorization: Bearer $API" "$BASE_URL/users"\n');
    await desk.run(["keygen"]);
    const add = [
      "add-credential",
      "--name",
      "api",
      "--type",
      "bearer_token",
      "--expires",
      "2099-01-01",
      "--value-stdin",
    ];
    expect((await desk.run(add, { stdin: SECRET })).code).toBe(0);
    const accept = ["accept", "--quick", "--yes", "--json", "--allow-origin", origin];
    const { out, err } = await desk.run(accept, { now: new Date() });
    const rows = JSON.parse(out).results.map(({ id, status }: { id: string; status: string }) => `${id} ${status}`);
    expect(rows, err).toEqual(
      ["gateway", "address", "nowhere", "refused", "asked", "script"].map((id) => `${id} passed`),
    );
    expect(out + err).not.toContain(SECRET);
    expect(new Set(service.seen.map(({ method, headers }) => `${method} ${headers.authorization}`))).toEqual(
      new Set([`GET Bearer ${SECRET}`]),
    );
    // Nobody named the origin: it is not asked, and that is not held against the work.
    const closed = JSON.parse((await desk.run(accept.slice(0, -2), { now: new Date() })).out);
    expect(closed.results.find(({ id }: { id: string }) => id === "asked")).toMatchObject({
      status: "skipped",
      reason: expect.stringContaining(`--allow-origin ${origin}`),
    });
  }, 60_000);
});
