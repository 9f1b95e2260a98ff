// The broker as a process: it ends with whoever started it, and when it ends nothing goes through.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startBroker } from "../../src/broker/index.js";
import { brokerProgram } from "../../src/run/agents/programs.js";
import { SECRET, type Service, startService } from "./service.js";

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

const program = () => ({ ...brokerProgram(), env: process.env });
const lent = () => ({
  credential: { name: "api", type: "bearer_token", value: SECRET, restrictions: { base_url: service.origin } },
  ...{ scope: undefined, expiresAt: null, manifest: {}, endpoints: null },
});

/** Processes of ours whose arguments end with the broker's program. */
const brokers = () =>
  readdirSync("/proc").filter((pid) => {
    try {
      const [, parent] = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
      return parent === String(process.pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").endsWith("/broker.js\0");
    } catch {
      return false;
    }
  });

describe.skipIf(process.platform !== "linux")("the broker's process", () => {
  it("lends, tells of every use, and has the secret in no argument or variable", async () => {
    const uses: string[] = [];
    const broker = await startBroker(program(), {
      allowOrigins: [service.origin],
      onUse: ({ what }) => uses.push(what),
    });
    await broker.lend(lent());
    const { env, close } = await broker.admit({ by: "agent-1", role: null });
    expect((await fetch(`${env.API_URL}/users`)).status).toBe(200);
    await expect.poll(() => uses).toEqual([`GET ${service.origin}/users`]);
    const [pid] = brokers();
    for (const name of ["cmdline", "environ"])
      expect(readFileSync(`/proc/${pid}/${name}`, "utf8")).not.toContain(SECRET);
    await close();
    expect((await fetch(`${env.API_URL}/users`)).status).toBe(401);
    await broker.close();
    expect(brokers()).toEqual([]);
  });

  it("lets nothing through once it was killed, and lets nobody in", async () => {
    const broker = await startBroker(program(), { allowOrigins: [service.origin] });
    await broker.lend(lent());
    const { env } = await broker.admit({ by: "agent-1", role: null });
    process.kill(Number(brokers()[0]), "SIGKILL");
    await expect.poll(() => brokers()).toEqual([]);
    await expect(fetch(`${env.API_URL}/users`)).rejects.toThrow();
    await expect(broker.admit({ by: "agent-2", role: null })).rejects.toMatchObject({ code: "BROKER_GONE" });
    await broker.close();
  });

  it("ends when whoever started it is gone", async () => {
    const { command, args } = brokerProgram();
    const script = `require("node:child_process").spawn(process.argv[1], process.argv.slice(2), { stdio: ["pipe", "inherit", "ignore"] }).stdin.write('{"id":1,"op":"open","allowOrigins":[]}\\n')`;
    const parent = spawn(process.execPath, ["-e", script, command, ...args], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = (await once(parent.stdout, "data")) as [Buffer];
    const { origin } = JSON.parse(line.toString()).result;
    expect((await fetch(origin)).status).toBe(401);
    parent.kill("SIGKILL");
    await expect
      .poll(
        () =>
          fetch(origin).then(
            () => "answers",
            () => "gone",
          ),
        { timeout: 5_000 },
      )
      .toBe("gone");
  });
});
