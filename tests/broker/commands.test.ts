// What people are told of lending, and `exec --broker`.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Desk } from "../vault/run.js";
import { SECRET, type Service, startService } from "./service.js";

const desk = new Desk();
let service: Service;
beforeAll(async () => {
  service = await startService();
  await desk.run(["keygen"]);
  const add = async (name: string, type: string, ...flags: string[]) => {
    const argv = [
      "add-credential",
      "--name",
      name,
      "--type",
      type,
      "--expires",
      "2099-01-01",
      "--value-stdin",
      ...flags,
    ];
    const { code, err } = await desk.run(argv, { stdin: SECRET });
    expect(code, err).toBe(0);
  };
  await add("api", "bearer_token", "--scope", "read", "--restrict", `base_url=${service.origin}/v1`);
  await add("queue", "amqp", "--restrict", "queues=jobs");
});
afterAll(async () => {
  await service.close();
  desk.remove();
});

const exec = (...argv: string[]) => desk.run(["exec", "--broker", "--allow-origin", service.origin, ...argv]);

describe("what is said", () => {
  it("of each credential by credentials and check", async () => {
    const { credentials } = JSON.parse((await desk.run(["credentials", "--json"])).out);
    expect(credentials.map(({ name, lending }: { name: string; lending: object }) => ({ name, ...lending }))).toEqual([
      { name: "api", use: "lent", enforced: [`only ${service.origin}/v1`, "read only"], promised: [] },
      {
        name: "queue",
        use: "handed_out",
        enforced: [],
        promised: ["queues: jobs"],
        why: "nothing here speaks for a credential of type amqp",
      },
    ]);
    expect((await desk.run(["credentials"])).out).toContain(
      "queue: handed out, its value is seen; only promised: queues: jobs",
    );
    const { findings } = JSON.parse((await desk.run(["check", "--json"])).out);
    const told = findings
      .filter(({ code }: { code: string }) => code.startsWith("CREDENTIAL_"))
      .map(({ code, path }: { code: string; path: string }) => `${path} ${code}`);
    expect(told).toEqual([
      "credentials.scopes.api CREDENTIAL_LENT",
      "credentials.scopes.queue CREDENTIAL_ONLY_PROMISED",
    ]);
  });

  it("by a dry run", async () => {
    writeFileSync(join(desk.dir, "requirements.md"), "what to do\n");
    const identity = join(desk.home, ".config/nutshell/identity.txt");
    const argv = [
      "run",
      desk.dir,
      "--dry-run",
      "--force",
      "--driver",
      "command",
      "--command",
      "true",
      "--identity",
      identity,
      "--hand-out",
      "api",
    ];
    const { out, err } = await desk.run([...argv, "--json"], { program: "nexus" });
    const { plan } = JSON.parse(out.trim().split("\n").at(-1) || err);
    expect(plan.credentials).toMatchObject([
      { name: "api", use: "handed_out", why: "the person said --hand-out" },
      { name: "queue", use: "handed_out" },
    ]);
    expect((await desk.run(argv.slice(0, -2), { program: "nexus" })).out).toContain(
      `credential api: lent, its value is never seen; enforced: only ${service.origin}/v1; read only`,
    );
  });
});

describe("exec --broker", () => {
  it("gives a program a way to use it, and a record", async () => {
    const { code, out, err } = await exec(
      "--with",
      "api",
      "--",
      "sh",
      "-c",
      'echo "$API"; curl -s "$API_URL/users"; curl -s -X POST "$API_URL/users"',
    );
    expect([code, err.includes("may only read")]).toEqual([0, true]);
    expect(out).toContain("used-through-the-broker\n");
    expect(out).toContain("[redacted:api]");
    expect(service.seen.at(-1)!.headers.authorization).toBe(`Bearer ${SECRET}`);
    const uses = readFileSync(join(desk.dir, "delivery/logs/credential-uses.jsonl"), "utf8");
    expect(
      uses
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).allowed),
    ).toEqual([true, false]);
    expect(out + err + uses).not.toContain(SECRET);
  });

  it("refuses what it cannot lend, and says what would", async () => {
    const { code, err } = await exec("--with", "queue", "--", "true");
    expect(code).toBe(2);
    expect(err).toContain('credential "queue" can only be handed out');
    expect(err).toContain("--hand-out queue");
    const handed = await exec(
      "--with",
      "queue",
      "--hand-out",
      "queue",
      "--",
      "sh",
      "-c",
      'test -n "$QUEUE" && echo has it',
    );
    expect(handed.out).toBe("has it\n");
  });

  it("is asked for before its flags mean anything", async () => {
    const { code, err } = await desk.run(["exec", "--with", "api", "--proxy", "--", "true"]);
    expect([code, err.includes("go with --broker")]).toEqual([2, true]);
  });
});
