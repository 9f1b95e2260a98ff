import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporary } from "../../tests/temporary.js";
import type { Job } from "../schema/fleet.js";
import { Checkpoints, restore } from "./checkpoints.js";
import type { Fleet } from "./fleet.js";
import type { Stored } from "./stored-files.js";

/** As much of a fleet as keeps a run: files by name, and one job. */
function memory() {
  const files = new Map<string, Buffer>();
  let kept = { id: "job", fence: 1, state: "running" } as unknown as Job;
  const sum = (bytes: Uint8Array): Stored => ({ sha256: "0".repeat(64), size: bytes.length });
  const runs = {
    putBytes: async (bytes: Uint8Array, name: string) => {
      files.set(name, Buffer.from(bytes));
      return { ...sum(bytes), sha256: name.split(".")[1]! };
    },
    putFile: async (path: string, _stored: Stored, name: string) => void files.set(name, readFileSync(path)),
    getFile: async (path: string, _stored: Stored, name: string) => writeFileSync(path, files.get(name)!),
    getNamed: async (name: string) => files.get(name)!,
    remove: async () => {},
  };
  const jobs = {
    update: async (_id: string, change: (job: Job) => Job) => {
      kept = change(kept);
      return kept;
    },
  };
  return { fleet: { runs, jobs } as unknown as Fleet, job: () => kept, files };
}

const LINES = ['{"type":"started"}', '{"type":"accepted","what":"it was delivered"}'];
const DELIVERED = ['{"type":"delivered","path":"/on/this/machine"}', '{"type":"closed"}'];
const text = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");

function runFolder(journal: string) {
  const root = temporary("nut-checkpoint-");
  const folder = { id: "run", root, journal: join(root, "journal.jsonl") };
  const rest = { objects: join(root, "objects"), agents: join(root, "agents") };
  mkdirSync(rest.objects);
  writeFileSync(folder.journal, journal);
  return { ...folder, ...rest };
}

async function restored({ fleet, job }: ReturnType<typeof memory>): Promise<string> {
  const root = temporary("nut-checkpoint-");
  await restore(fleet, job(), { root, cipher: null, programs: [] });
  return readFileSync(join(root, "journal.jsonl"), "utf8");
}

it("a run that delivered and did not live to say so delivers again elsewhere: its bundle went with its machine", async () => {
  const kept = memory();
  const saved = new Checkpoints({ fleet: kept.fleet, job: "job", fence: 1, cipher: null, now: () => new Date() });
  await saved.save(runFolder(text([...LINES, ...DELIVERED])));
  expect(await restored(kept)).toBe(text(LINES));
});

it.each(['{"type":"delivered"', '"delivered"', 'null "switched"'])(
  "a stored journal with %s is refused",
  async (line) => {
    const kept = memory();
    const saved = new Checkpoints({ fleet: kept.fleet, job: "job", fence: 1, cipher: null, now: () => new Date() });
    await saved.save(runFolder(text([...LINES, line])));
    await expect(restored(kept)).rejects.toMatchObject({ code: "FLEET_CORRUPT" });
  },
);

it("a stored run that says it delivered is taken up before that", async () => {
  const kept = memory();
  const saved = new Checkpoints({ fleet: kept.fleet, job: "job", fence: 1, cipher: null, now: () => new Date() });
  await saved.save(runFolder(text(LINES)));
  for (const [name, bytes] of kept.files)
    if (bytes.includes('"started"')) kept.files.set(name, Buffer.concat([bytes, Buffer.from(text(DELIVERED))]));
  expect(await restored(kept)).toBe(text(LINES));
});
