// What `nexus fleet init --print-config` lets each party do, on a real server that was started with it.
import { randomBytes } from "node:crypto";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bwrapAvailable } from "../../src/process/index.js";
import { call } from "../run/program.js";
import { temporary } from "../temporary.js";
import { start } from "../web/serving.js";
import { FleetDesk, type JobRow } from "./desk.js";
import { hasNats, type NatsServer, startNats } from "./nats.js";

const can = hasNats && (await bwrapAvailable(process.env));

describe.skipIf(!can)("the server's own permissions", () => {
  let server: NatsServer;
  let desk: FleetDesk;
  const passwords = new Map<string, string>();
  const as = (user: string) => ({ NATS_USER: user, NATS_PASSWORD: passwords.get(user)! });

  beforeAll(async () => {
    const folder = temporary("nut-nats-");
    const env: Record<string, string> = {};
    for (const tenant of ["red", "blue"])
      for (const role of ["admin", "submitter", "worker", "watcher"]) {
        const password = `p${randomBytes(12).toString("hex")}`;
        passwords.set(`${tenant}-${role}`, password);
        env[`NUT_${tenant}_${role}`.toUpperCase()] = password;
      }
    const printed = call("nexus", folder, ["fleet", "init", "--print-config", "--tenant", "red", "--tenant", "blue"]);
    expect(printed.status, printed.stderr).toBe(0);
    for (const password of passwords.values()) expect(printed.stdout).not.toContain(password);
    server = await startNats(folder, { config: printed.stdout, env });
    desk = new FleetDesk(server);
    for (const tenant of ["red", "blue"]) await desk.ask(["init", "--lease", "3s"], "admin", as(`${tenant}-admin`));
  });
  afterAll(async () => {
    await desk?.stop();
    await server?.kill();
  });

  it("lets a submitter hand in and fetch, and take nothing out of the queue", async () => {
    const { jobs } = await desk.ask<{ jobs: JobRow[] }>(
      ["submit", await desk.request("one")],
      "alice",
      as("red-submitter"),
    );
    expect(jobs[0]!.fresh).toBe(true);
    expect(
      (await desk.nexus(["work", "--driver", "demo", "--yes", "--until-empty"], "alice", as("red-submitter"))).status,
    ).toBe(2);
    const nc = await connect({
      servers: `127.0.0.1:${server.port}`,
      user: "red-submitter",
      pass: passwords.get("red-submitter")!,
      inboxPrefix: "_INBOX_red-submitter",
    });
    const jsm = await jetstreamManager(nc, { checkAPI: false, timeout: 700 });
    await expect(jsm.streams.purge("NUT_WORK")).rejects.toThrow();
    await expect(jsm.streams.delete("KV_nut_jobs")).rejects.toThrow();
    await expect(jsm.consumers.add("NUT_WORK", { durable_name: "thief", ack_policy: "explicit" })).rejects.toThrow();
    await nc.close();
  }, 60_000);

  it("lets a worker work, and set up nothing", async () => {
    const worker = desk.worker(["--until-empty"], { extra: as("red-worker") });
    const worked = await worker.done;
    expect(worked.stdout, worked.stderr).toContain("1 job delivered");
    expect((await desk.nexus(["init"], "worker", as("red-worker"))).status).toBe(2);
    const [job] = (await desk.ask<{ jobs: JobRow[] }>(["jobs"], "alice", as("red-submitter"))).jobs;
    const fetched = await desk.ask<{ verified: boolean }>(
      ["fetch", job!.job, "--rerun", "--yes"],
      "alice",
      as("red-submitter"),
    );
    expect(fetched.verified).toBe(true);
  }, 60_000);

  it("lets a watcher look and nothing else", async () => {
    const [job] = (await desk.ask<{ jobs: JobRow[] }>(["jobs"], "eve", as("red-watcher"))).jobs;
    expect(job!.state).toBe("delivered");
    for (const words of [["show", job!.job], ["logs", job!.job], ["workers"], ["top"], ["doctor"]])
      expect((await desk.nexus(words, "eve", as("red-watcher"))).status, words.join(" ")).toBe(0);
    const env = desk.env("eve", as("red-watcher"));
    const board = await start("nexus", ["board", "--fleet", "--port", "0"], { cwd: desk.root, env });
    expect(await board.stop()).toBe(143);
    const submitted = await desk.nexus(["submit", await desk.request("two")], "eve", as("red-watcher"));
    expect([submitted.status, submitted.stderr]).toEqual([
      2,
      expect.stringContaining("the server does not let this user publish"),
    ]);
    expect((await desk.nexus(["retry", job!.job], "eve", as("red-watcher"))).status).toBe(2);
    expect((await desk.nexus(["fetch", job!.job], "eve", as("red-watcher"))).status).toBe(2);
    expect((await desk.ask<{ jobs: JobRow[] }>(["jobs"], "eve", as("red-watcher"))).jobs).toHaveLength(1);
  }, 60_000);

  it("keeps tenants apart", async () => {
    expect((await desk.ask<{ jobs: JobRow[] }>(["jobs"], "bob", as("blue-submitter"))).jobs).toEqual([]);
    const [job] = (await desk.ask<{ jobs: JobRow[] }>(["jobs"], "alice", as("red-submitter"))).jobs;
    expect((await desk.nexus(["fetch", job!.job], "bob", as("blue-submitter"))).stderr).toContain("there is no job");
  });

  it("refuses wrong credentials without repeating them", async () => {
    const ran = await desk.nexus(["jobs"], "mallory", { NATS_USER: "red-admin", NATS_PASSWORD: "guessed-secret" });
    expect([ran.status, ran.stderr]).toEqual([2, expect.stringContaining("does not know these credentials")]);
    expect(ran.stderr + ran.stdout).not.toContain("guessed-secret");
  });
});
