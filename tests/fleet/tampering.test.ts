// A server that lies: changed bytes, poisoned checkpoints, places that are nobody's business; and what it sees of a sealed job.
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { jetstream } from "@nats-io/jetstream";
import { Kvm } from "@nats-io/kv";
import { Objm } from "@nats-io/obj";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bwrapAvailable } from "../../src/process/index.js";
import type { Job } from "../../src/schema/fleet.js";
import { peerIdentity, peerIdOf, writeIdentityFile } from "../../src/vault/index.js";
import { temporary } from "../temporary.js";
import { FleetDesk, type JobRow } from "./desk.js";
import { hasNats, type NatsServer, startNats } from "./nats.js";

const can = hasNats && (await bwrapAvailable(process.env));
const sumOf = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");

describe.skipIf(!can)("a server that lies", () => {
  const folder = temporary("nut-nats-");
  let server: NatsServer;
  let desk: FleetDesk;
  let nc: NatsConnection;
  beforeAll(async () => {
    server = await startNats(folder);
    desk = new FleetDesk(server);
    await desk.ask(["init", "--lease", "3s"]);
    nc = await connect({ servers: `127.0.0.1:${server.port}` });
  });
  afterAll(async () => {
    await desk?.stop();
    await nc?.close();
    await server?.kill();
  });

  const submitted = async (words: readonly string[], home = "alice") =>
    (await desk.ask<{ jobs: JobRow[] }>(["submit", ...words], home)).jobs[0]!.job;
  const objects = (bucket: string) => new Objm(jetstream(nc)).open(bucket);
  const records = () => new Kvm(nc).open("nut_jobs");
  const change = async (id: string, make: (job: Job) => object) => {
    const kv = await records();
    const job = (await kv.get(id))!.json<Job>();
    await kv.put(id, JSON.stringify({ ...job, ...make(job) }));
  };
  const stateOf = async (id: string) => (await desk.jobs()).find(({ job }) => job === id)!;

  it("finds what was changed on the server", async () => {
    const id = await submitted([await desk.request("honest")]);
    await desk.worker(["--until-empty"]).done;
    const { sha256, size } = (await desk.ask<Job>(["show", id])).result!;
    const store = await objects("nut_bundles");
    const bytes = Buffer.from((await store.getBlob(sha256))!);
    bytes[bytes.length >> 1]! ^= 1;
    await store.putBlob({ name: sha256 }, bytes);
    expect(bytes.length).toBe(size);
    const fetched = await desk.nexus(["fetch", id, "-o", "changed.nut"]);
    expect([fetched.status, fetched.stderr]).toEqual([2, expect.stringContaining("is not what was stored")]);
    expect(existsSync(join(desk.root, "changed.nut"))).toBe(false);

    const path = await desk.request("swapped");
    const other = await submitted([path]);
    const name = sumOf(readFileSync(path));
    await store.putBlob({ name }, randomBytes(readFileSync(path).length));
    await desk.worker(["--until-empty"]).done;
    expect(await stateOf(other)).toMatchObject({ state: "dead", reason: expect.stringContaining("FLEET_CORRUPT") });
  }, 60_000);

  it("starts no program that a stored run names", async () => {
    const id = await submitted([await desk.request("poisoned")]);
    const marker = join(desk.root, "owned");
    const runs = await objects("nut_runs");
    const put = async (text: string) => {
      await runs.putBlob({ name: `${id}.${sumOf(text)}` }, Buffer.from(text));
      return { sha256: sumOf(text), size: Buffer.byteLength(text) };
    };
    const evil = JSON.stringify({
      at: "2026-03-14T10:00:00Z",
      type: "switched",
      from: "x",
      to: "command",
      command: `touch ${marker}`,
    });
    const journal = await put(`${evil}\n`);
    const list = await put(JSON.stringify({ files: [{ path: "journal.jsonl", ...journal }] }));
    await change(id, () => ({ checkpoint: { run: "r-1", list: list.sha256, records: 1, at: "2026-03-14T10:00:00Z" } }));
    await desk.worker(["--until-empty"]).done;
    expect(existsSync(marker)).toBe(false);
    expect(await stateOf(id)).toMatchObject({ state: "delivered", status: "completed" });
    expect((await desk.nexus(["logs", id])).stdout).toContain("names a program that this worker does not start");

    // A path that climbs is no path of a checkpoint.
    const climbing = await submitted([await desk.request("climbing")]);
    const text = JSON.stringify({ files: [{ path: "../../../owned", ...journal }] });
    await runs.putBlob({ name: `${climbing}.${sumOf(text)}` }, Buffer.from(text));
    await change(climbing, () => ({
      checkpoint: { run: "r-1", list: sumOf(text), records: 1, at: "2026-03-14T10:00:00Z" },
    }));
    await desk.worker(["--until-empty"]).done;
    expect((await stateOf(climbing)).state).toBe("delivered");
  }, 60_000);

  it("reads no place that the worker did not name", async () => {
    const shared = join(desk.root, "shared");
    mkdirSync(shared);
    const path = join(shared, "placed.nut");
    writeFileSync(path, readFileSync(await desk.request("placed")));
    const id = await submitted([path, "--in-place"]);
    expect((await desk.worker(["--until-empty"]).done).stdout).toContain("0 jobs delivered, 1 failed");
    expect(await stateOf(id)).toMatchObject({ state: "queued", deaths: 1 });
    expect((await desk.nexus(["show", id])).stdout).toContain("where this worker does not look");
    await desk.worker(["--until-empty", "--from", shared]).done;
    expect(await stateOf(id)).toMatchObject({ state: "delivered" });
  }, 60_000);

  it("holds a sealed job as ciphertext alone", async () => {
    const keys = ["fleet", "alice"].map((name) => {
      const identity = peerIdentity(Uint8Array.from(randomBytes(32)));
      const file = join(desk.root, `${name}.key`);
      writeIdentityFile(file, identity);
      return { file, peer: peerIdOf(identity.publicKey), identity };
    });
    const own = join(desk.root, "homes/alice/.config/nutshell");
    mkdirSync(own, { recursive: true });
    writeIdentityFile(join(own, "peer.key"), keys[1]!.identity);
    const secret = `marker-${randomBytes(8).toString("hex")}`;
    const path = await desk.request("sealed", { "files/wanted.txt": `${secret}\n` });
    const id = await submitted([path, "--seal-for", keys[0]!.peer]);
    await desk.worker(["--until-empty", "-i", keys[0]!.file], { home: "keyed" }).done;
    expect(await stateOf(id)).toMatchObject({ state: "delivered", status: "completed", title: "sealed" });
    const fetched = await desk.ask<{ verified: boolean; path: string }>([
      "fetch",
      path,
      "--rerun",
      "--yes",
      "-o",
      "opened.nut",
    ]);
    expect(fetched.verified).toBe(true);
    // Nothing the server ever wrote has the words in it.
    const written = readdirSync(join(folder, "js"), { recursive: true, encoding: "utf8" }).map((name) =>
      join(folder, "js", name),
    );
    const words = [secret, "Make sealed"];
    for (const file of written.filter((name) => /\.blk$|\.idx$|\.dat$/.test(name)))
      for (const word of words) expect(readFileSync(file).includes(word), `${word} in ${file}`).toBe(false);
    expect((await desk.nexus(["fetch", path, "-o", "no.nut"], "mallory")).status).toBe(2);
  }, 60_000);
});
