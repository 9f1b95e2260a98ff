// A run's journal and objects, stored as it proceeds, so that a worker elsewhere goes on with the same run. Everything else in
// a run's folder is made from these and the request.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { NutError } from "../errors.js";
import type { RunFolder } from "../run/index.js";
import { CheckpointList, type Job } from "../schema/fleet.js";
import type { Fleet } from "./fleet.js";
import { type Stored, type StoredFiles, sumOf } from "./stored-files.js";
import { checkpointed } from "./transitions.js";

/** What a sealed job's files pass through on the way to the server and back. */
export interface Cipher {
  seal(bytes: Uint8Array): Uint8Array;
  /** Throws when the bytes were not sealed for us. */
  open(bytes: Uint8Array): Uint8Array;
}

interface CheckpointInput {
  readonly fleet: Pick<Fleet, "runs" | "jobs">;
  readonly job: string;
  readonly fence: number;
  readonly cipher: Cipher | null;
  readonly now: () => Date;
}

export type Files = CheckpointList["files"];

const nameOf = (job: string, sha256: string): string => `${job}.${sha256}`;

export class Checkpoints {
  readonly #input: CheckpointInput;
  readonly #stored = new Map<string, { readonly mark: string; readonly stored: Stored }>();
  /** The sums of everything the server holds of this run, as far as we put it there or took it over. */
  readonly #there = new Set<string>();
  #journal = 0;
  #saving: Promise<void> = Promise.resolve();
  #over = false;

  constructor(input: CheckpointInput) {
    this.#input = input;
  }

  /** Stores what the run has come to, one after another. Throws FLEET_LEASE_LOST when the job is somebody else's by now. */
  save(folder: Pick<RunFolder, "id" | "root" | "journal" | "objects" | "agents">): Promise<void> {
    this.#saving = this.#saving.catch(() => {}).then(() => this.#save(folder));
    return this.#saving;
  }

  async #save(folder: Pick<RunFolder, "id" | "root" | "journal" | "objects" | "agents">): Promise<void> {
    const { fleet, job, fence, now } = this.#input;
    // The journal first: whatever it speaks of was kept before it was written.
    const journal = wholeLines(folder.journal);
    if (journal.length === this.#journal) return;
    const files: { path: string; sha256: string; size: number }[] = [];
    for (const path of filesOf(folder)) {
      if (this.#over) return;
      files.push({ path, ...(await this.#store(join(folder.root, path), path)) });
    }
    files.push({ path: "journal.jsonl", ...(await this.#storeBytes(journal)) });
    const list = await this.#storeBytes(Buffer.from(JSON.stringify({ files } satisfies CheckpointList)));
    if (this.#over) return;
    const records = journal.toString("utf8").split("\n").length - 1;
    const at = now().toISOString();
    await fleet.jobs.update(job, (kept) =>
      checkpointed(kept, fence, { run: folder.id, list: list.sha256, records, at }),
    );
    this.#journal = journal.length;
    await this.#keepOnly(new Set([list.sha256, ...files.map(({ sha256 }) => sha256)]));
  }

  /** A run that goes on: what was stored of it before is ours to remove. */
  took(list: string, files: Files): void {
    for (const sha256 of [list, ...files.map(({ sha256 }) => sha256)]) this.#there.add(sha256);
  }

  /** Nobody will go on from here: what is being stored just now is left at that. */
  giveUp(): void {
    this.#over = true;
  }

  /** The job is over, and what was stored of it goes. What cannot be removed goes with time. */
  async forget(): Promise<void> {
    this.giveUp();
    await this.#saving.catch(() => {});
    await this.#keepOnly(new Set());
  }

  async #keepOnly(kept: ReadonlySet<string>): Promise<void> {
    const { fleet, job } = this.#input;
    const gone = [...this.#there].filter((sha256) => !kept.has(sha256));
    for (const sha256 of gone) this.#there.delete(sha256);
    // A file that comes back is stored again.
    for (const [name, { stored }] of this.#stored) if (!this.#there.has(stored.sha256)) this.#stored.delete(name);
    await Promise.allSettled(gone.map((sha256) => fleet.runs.remove(nameOf(job, sha256))));
  }

  async #store(path: string, name: string): Promise<Stored> {
    const { size, mtimeMs } = statSync(path);
    const mark = `${size} ${mtimeMs}`;
    const known = this.#stored.get(name);
    if (known?.mark === mark) return known.stored;
    const stored =
      this.#input.cipher === null ? await this.#storeFile(path) : await this.#storeBytes(readFileSync(path));
    this.#stored.set(name, { mark, stored });
    return stored;
  }

  async #storeFile(path: string): Promise<Stored> {
    const stored = await sumOf(path);
    this.#there.add(stored.sha256);
    await this.#input.fleet.runs.putFile(path, stored, nameOf(this.#input.job, stored.sha256));
    return stored;
  }

  async #storeBytes(clear: Uint8Array): Promise<Stored> {
    const { cipher, fleet, job } = this.#input;
    const bytes = cipher === null ? clear : cipher.seal(clear);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    this.#there.add(sha256);
    return fleet.runs.putBytes(bytes, nameOf(job, sha256));
  }
}

/** Up to the last line that is whole. */
function wholeLines(path: string): Buffer {
  const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  return bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1);
}

function filesOf({ objects, agents }: Pick<RunFolder, "objects" | "agents">): string[] {
  const names = (folder: string) => (existsSync(folder) ? readdirSync(folder) : []);
  const reports = names(agents).map((agent) => `agents/${agent}/report.md`);
  return [
    // What is still being written has a name of its own.
    ...names(objects)
      .filter((name) => /^[\w:-]+$/.test(name))
      .map((name) => `objects/${name}`),
    ...reports.filter((path) => existsSync(join(dirname(agents), path))),
  ];
}

/**
 * Puts a checkpoint's files where a run's folder is. Throws FLEET_CORRUPT when the server no longer has them whole or they
 * say what no worker of ours writes: then the run begins anew.
 */
export async function restore(
  { runs }: Pick<Fleet, "runs">,
  job: Pick<Job, "id" | "checkpoint">,
  {
    root,
    cipher,
    programs,
  }: { readonly root: string; readonly cipher: Cipher | null; readonly programs: readonly string[] },
): Promise<Files> {
  const { files } = await readList(runs, job, cipher);
  for (const { path, sha256, size } of files) {
    const target = join(root, path);
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    const name = nameOf(job.id, sha256);
    if (cipher === null) await runs.getFile(target, { sha256, size }, name);
    else writeFileSync(target, cipher.open(await runs.getBytes({ sha256, size }, name)), { mode: 0o600 });
    if (path !== "journal.jsonl") continue;
    const journal = readFileSync(target);
    assertOwnPrograms(journal.toString("utf8"), programs);
    writeFileSync(target, beforeDelivery(journal), { mode: 0o600 });
  }
  return files;
}

/**
 * Without the delivery and what follows: the bundle stayed on the machine that made it. Whoever goes on elsewhere delivers again.
 */
function beforeDelivery(journal: Buffer): Buffer {
  let start = 0;
  for (let end = journal.indexOf(0x0a); end !== -1; end = journal.indexOf(0x0a, start)) {
    const line = journal.toString("utf8", start, end);
    if (line.includes('"delivered"') && recordOf(line).type === "delivered") return journal.subarray(0, start);
    start = end + 1;
  }
  return journal;
}

/** A journal may say that another program took over. Which programs start here is this machine's word alone. */
function assertOwnPrograms(journal: string, programs: readonly string[]): void {
  for (const line of journal.split("\n").filter((text) => text.includes('"switched"'))) {
    const record = recordOf(line);
    if (record.type !== "switched" || record.command === undefined) continue;
    if (programs.includes(String(record.command))) continue;
    throw new NutError("FLEET_CORRUPT", "a stored run names a program that this worker does not start", {
      hint: "the run begins anew here; look who may write to the fleet's store",
    });
  }
}

function recordOf(line: string): { readonly type?: unknown; readonly command?: unknown } {
  try {
    const record: unknown = JSON.parse(line);
    if (typeof record === "object" && record !== null) return record;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new NutError("FLEET_CORRUPT", "the journal of a stored run cannot be read", { hint: "the run begins anew" });
}

async function readList(runs: StoredFiles, { id, checkpoint }: Pick<Job, "id" | "checkpoint">, cipher: Cipher | null) {
  const { list } = checkpoint!;
  const bytes = await runs.getNamed(nameOf(id, list), list);
  const parsed = CheckpointList.safeParse(JSON.parse(Buffer.from(cipher?.open(bytes) ?? bytes).toString("utf8")));
  if (parsed.success) return parsed.data;
  throw new NutError("FLEET_CORRUPT", `the stored run of job ${id} cannot be read`, {
    hint: "the run begins anew",
  });
}
