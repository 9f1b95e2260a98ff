// Lines of a journal, read and written. Every line carries a sum over itself and all lines before it, so that a line
// that was changed, lost, doubled or moved is found before anything is done with it.
import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { NutError, shellWord } from "../../errors.js";
import { JournalRecord } from "../../schema/journal.js";
import { RUN_MIGRATIONS } from "../../schema/old/run.js";
import { RUN_VERSION } from "../../schema/run.js";
import { misplaced } from "./record-order.js";
import { applyRecord, emptyState, type RunState } from "./run-state.js";
import { versionOf } from "./version.js";

const SUM = /,"sum":"([0-9a-f]{16})"\}$/;
/** The first version whose lines carry a sum. */
const SUMMED = 2;

/** One record as a line, and the sum that the next line goes on from. */
export function lineOf(record: JournalRecord, sumBefore: string): { readonly line: string; readonly sum: string } {
  const body = JSON.stringify(record);
  const sum = sumOf(sumBefore, body);
  return { line: `${body.slice(0, -1)},"sum":"${sum}"}\n`, sum };
}

const sumOf = (before: string, body: string) =>
  createHash("sha256").update(before).update(body).digest("hex").slice(0, 16);

/** Reads lines one after another and folds them. After a refusal it is of no more use. */
export class JournalReader {
  readonly state: RunState = emptyState();
  readonly #path: string;
  #line = 0;
  #version = RUN_VERSION;
  #sum = "";

  constructor(path: string) {
    this.#path = path;
  }

  get version(): number {
    return this.#version;
  }

  get sum(): string {
    return this.#sum;
  }

  /** Throws RUN_DAMAGED or RUN_NEWER, naming the line. */
  read(line: string): JournalRecord {
    this.#line += 1;
    const [, sum] = SUM.exec(line) ?? [];
    const body = sum === undefined ? line : line.replace(SUM, "}");
    let fields = this.#parse(body);
    if (this.#line === 1) this.#version = versionOf(fields.version, this.#path, (why) => this.#damaged(why));
    if (sum !== undefined || this.#version >= SUMMED) {
      if (sum !== sumOf(this.#sum, body)) throw this.#damaged("it is not what was written there");
      this.#sum = sum;
    }
    for (const { record } of RUN_MIGRATIONS.slice(this.#version - 1)) fields = record(fields);
    const parsed = JournalRecord.safeParse(fields);
    if (!parsed.success) throw this.#damaged(`"${parsed.error.issues[0]!.path.join(".")}" is missing or wrong`);
    const wrong = misplaced(this.state, parsed.data);
    if (wrong !== null) throw this.#damaged(wrong);
    applyRecord(this.state, parsed.data);
    return parsed.data;
  }

  #parse(body: string): Readonly<Record<string, unknown>> {
    let value: unknown;
    try {
      value = JSON.parse(body);
    } catch {
      throw this.#damaged("it is not JSON");
    }
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
    throw this.#damaged("it is not a record");
  }

  /** Says what can still be saved: everything before the line, and the tree as the last merge left it. */
  #damaged(why: string): NutError {
    const run = dirname(this.#path);
    const [path, work, line] = [this.#path, join(run, "work"), this.#line];
    const finished = [...this.state.tasks.values()].filter(({ status }) => status === "completed");
    const sound = this.state.plan === null ? "" : `; the lines before it are sound: ${finished.length} tasks are done`;
    const goBack = `cp -R ${shellWord(work)} saved-work && sed -i.damaged '${line},$d' ${shellWord(path)} && nexus resume ${basename(run)}`;
    return new NutError("RUN_DAMAGED", `${path}: line ${line} is damaged: ${why}${sound}`, {
      ...(this.state.plan === null ? {} : { hint: goBack }),
      data: { path, line, finished: finished.map(({ task }) => task.id), ...(sound === "" ? {} : { work }) },
    });
  }
}
