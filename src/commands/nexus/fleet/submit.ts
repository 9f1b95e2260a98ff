import { randomBytes } from "node:crypto";
import { createWriteStream, lstatSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { openBundle } from "../../../bundle/index.js";
import { command } from "../../../cli/command.js";
import { flag, flagWords, positional } from "../../../cli/fields.js";
import { dim, green } from "../../../cli/text.js";
import { isDriverName } from "../../../drivers/index.js";
import { fromSystemError, NutError, shellWord } from "../../../errors.js";
import { makeFolder, renameOver, temporaryName } from "../../../files/index.js";
import { type Submission, submit, sumOf } from "../../../fleet/index.js";
import type { Context } from "../../../operation.js";
import { withWorkFolder } from "../../../request/open/work-folder.js";
import { isSealedFile } from "../../../request/pack/sealed.js";
import { stateFolder } from "../../../request/records/record-file.js";
import { pullBundle } from "../../../request/signatures/registry.js";
import { findPeerIdentity } from "../../../request/vault/keys.js";
import { parseBudget } from "../../../run/index.js";
import { Priority } from "../../../schema/fleet.js";
import { parsePeer, peerIdOf } from "../../../vault/index.js";
import { aboutFleet, asTyped } from "./about-fleet.js";
import { ask, FLEET_FLAGS } from "./fleet-flags.js";
import { JobShape, shapeOf, shortId, stateWords } from "./job-shape.js";
import { readLabels } from "./words.js";

/** Requests on their way at once. */
const AT_ONCE = 16;

const SubmitInput = z.object({
  requests: positional(z.array(z.string()).min(1), {
    name: "request",
    about: "request bundles (.nut), oci:// addresses, or - for one on standard input",
  }),
  label: flag(z.array(z.string()).default([]), { short: "l", value: "<names>", about: "what a worker must have" }),
  priority: flag(Priority.default("normal"), { value: "<level>", about: "high, normal or low: high goes first" }),
  driver: flag(z.string().optional(), {
    value: "<name>",
    about: "only workers that have this driver (default: the one a worker prefers)",
  }),
  budget: flag(z.array(z.string()).default([]), {
    value: "<limits>",
    about: "such as time=10m,tokens=200k,cost=2.5, as for nexus run",
  }),
  again: flag(z.boolean().default(false), { about: "another job, though the same request was handed in before" }),
  inPlace: flag(z.boolean().default(false), {
    about: "workers read the file where it lies (a folder they share); nothing is uploaded",
  }),
  sealFor: flag(z.string().optional(), {
    value: "<peer>",
    about: "seal for the fleet's key: the server holds ciphertext only, of the delivery too",
  }),
  ...FLEET_FLAGS,
});

export default aboutFleet(
  command({
    name: "fleet submit",
    summary: "hand requests in: any worker that fits does them",
    input: SubmitInput,
    output: z.object({
      jobs: z.array(
        JobShape.extend({
          fresh: z.boolean().describe("false: it was handed in before"),
          next: z.string().nullable().describe("what takes a job up that was set aside or cancelled"),
        }),
      ),
    }),
    about: [
      "The same request, asked for in the same way, is one job however often it is handed in. What is handed in is noted here first, so that nexus fleet reconcile can hand in again what a server forgot.",
      "A wish for a driver, a label and a limit decide who does it and how much it may cost; which program starts is the worker's own word.",
    ],
    examples: [
      ["nexus fleet submit task.nut", "any worker does it"],
      ["nexus fleet submit *.nut --label gpu --budget time=30m,cost=2", "workers with that label, within limits"],
      ["nutshell pack -o - | nexus fleet submit -", "straight from a folder"],
    ],
    async run(input, context) {
      const labels = readLabels(input.label);
      parseBudget(input.budget);
      if (input.driver !== undefined && input.driver !== "demo" && !isDriverName(input.driver)) {
        throw new NutError("USAGE", `there is no driver "${input.driver}"`, { hint: "nexus drivers lists them" });
      }
      const sealed = sealedFor(input.sealFor, context);
      return withWorkFolder(context, async (work) => {
        // Every request is looked at before anything is asked or sent: what one of them lacks, none is handed in over.
        const found: Found[] = [];
        await inTurn(input.requests, async (name, index) => {
          found[index] = await requestAt(name, {
            work,
            index,
            inPlace: input.inPlace,
            context,
            again: (file) =>
              `nexus fleet submit ${file}${flagWords(SubmitInput, input, input.priority === "normal" ? ["priority"] : [])}`,
          });
        });
        return ask(input, context, async (fleet) => {
          const rows: (JobShape & { fresh: boolean; next: string | null })[] = [];
          let done = 0;
          await inTurn(found, async (one, index) => {
            const submission: Submission = {
              ...one,
              labels,
              priority: input.priority,
              ...(input.driver === undefined ? {} : { driver: input.driver }),
              budget: input.budget,
              ...(input.again ? { again: randomBytes(8).toString("hex") } : {}),
              ...sealed,
            };
            const { job, fresh, unnoted } = await submit(fleet, submission, context);
            if (unnoted !== null) {
              const message = `not noted here, so reconcile will not know of ${input.requests[index]}: ${unnoted}`;
              context.progress({ type: "warning", message });
            }
            const isOver = job.state === "dead" || job.state === "cancelled";
            const next = isOver ? asTyped(`nexus fleet retry ${shortId(job.id)}`, input) : null;
            rows[index] = { ...shapeOf(job), fresh, next };
            done += 1;
            context.progress({ type: "submitted", message: "submitted", done, total: found.length });
          });
          return { jobs: rows };
        });
      });
    },
    text: ({ jobs }) =>
      jobs.map((job) =>
        job.fresh
          ? `${green("✓")} ${shortId(job.job)}  ${job.title}`
          : `${dim("=")} ${shortId(job.job)}  ${job.title}: handed in before, ${stateWords(job)} ${dim(`(${job.next === null ? "" : `${job.next} takes it up, `}--again makes another job)`)}`,
      ),
  }),
);

/** Several at once; the first that fails ends it. */
async function inTurn<T>(all: readonly T[], use: (one: T, index: number) => Promise<void>): Promise<void> {
  const waiting = [...all.entries()];
  const take = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      await use(next[1], next[0]).catch((error: unknown) => {
        waiting.length = 0;
        throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, all.length) }, take));
}

interface Found {
  readonly file: string;
  readonly path: string;
  readonly title: string;
  readonly in_place?: true;
}

interface Where {
  readonly work: string;
  readonly index: number;
  readonly inPlace: boolean;
  readonly context: Context;
  /** The same line for another file. */
  again(file: string): string;
}

/** The request's bytes on this disk, and where they will still be later. */
async function requestAt(name: string, where: Where): Promise<Found> {
  const { work, index, inPlace, context, again } = where;
  if (/^oci:\/\//.test(name)) {
    const file = join(work, `${index}.nut`);
    await pullBundle(name, file, { sidecar: false }, context);
    return { file, path: name, title: await titleOf(file, name), in_place: true };
  }
  const file = name === "-" ? await fromInput(context) : resolve(context.cwd, name);
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined) throw new NutError("FILE_NOT_FOUND", `${name}: no such file`, { data: { path: file } });
  if (stats.isDirectory()) {
    throw new NutError("RUN_NOT_A_REQUEST", `${name} is a folder; a request travels as a file`, {
      hint: `nutshell pack --dir ${shellWord(name)} -o task.nut && ${again("task.nut")}`,
    });
  }
  return { file, path: file, title: await titleOf(file, name), ...(inPlace ? { in_place: true } : {}) };
}

async function titleOf(file: string, name: string): Promise<string> {
  if (isSealedFile(file)) return "sealed";
  const { manifest } = await openBundle(file);
  if (manifest.bundle_type === "request") return manifest.task?.title ?? manifest.id;
  throw new NutError("RUN_NOT_A_REQUEST", `${name} is a ${manifest.bundle_type}, not a request`, {
    hint: `nutshell inspect ${shellWord(name)}`,
  });
}

/** Kept under its sum beside the ledger: a server that forgets it is given it again from there. */
async function fromInput(context: Context): Promise<string> {
  const state = stateFolder(context.env);
  if (state === null) {
    throw new NutError("FILE_UNWRITABLE", "no home folder is set, so a request from standard input cannot be kept", {
      hint: "write it to a file and submit that",
    });
  }
  const folder = join(state, "fleet");
  makeFolder(folder, 0o700);
  const temporary = temporaryName(join(folder, "request.nut"));
  try {
    await pipeline(context.stdin(), createWriteStream(temporary, { mode: 0o600 }), { signal: context.signal });
    const path = join(folder, `${(await sumOf(temporary)).sha256}.nut`);
    renameOver(temporary, path);
    return path;
  } catch (error) {
    rmSync(temporary, { force: true });
    throw fromSystemError(error, temporary) ?? error;
  }
}

/** Whom the request is sealed for, and whom its delivery: whoever submits needs a key of their own. */
function sealedFor(peer: string | undefined, context: Context): { seal_for?: string; reply_to?: string } {
  if (peer === undefined) return {};
  const own = findPeerIdentity(undefined, context);
  if (own === null) {
    throw new NutError("IDENTITY_MISSING", "a sealed request's delivery is sealed for you, and you have no key", {
      hint: "nutshell keygen --peer",
    });
  }
  return { seal_for: peerIdOf(parsePeer(peer)), reply_to: peerIdOf(own.publicKey) };
}
