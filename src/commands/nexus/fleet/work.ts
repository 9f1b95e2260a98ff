import { existsSync, readdirSync, renameSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag } from "../../../cli/fields.js";
import { count, green } from "../../../cli/text.js";
import { NutError } from "../../../errors.js";
import { makeFolder, removeFolder } from "../../../files/index.js";
import {
  type Cipher,
  type Fleet,
  FleetWorker,
  newWorkerId,
  type Programs,
  serveMetrics,
  withFleet,
} from "../../../fleet/index.js";
import type { Context } from "../../../operation.js";
import { stateFolder } from "../../../request/records/record-file.js";
import { peerIdentities } from "../../../request/vault/keys.js";
import type { Job } from "../../../schema/fleet.js";
import { openLock } from "../../../state/index.js";
import { openSealed, parsePeer, sealBundle } from "../../../vault/index.js";
import { chooseDriver } from "../run/choose-driver.js";
import { recordStarted } from "../run/run-consent.js";
import { findRunner } from "../run/runner.js";
import { aboutFleet } from "./about-fleet.js";
import { FLEET_FLAGS, settingsOf } from "./fleet-flags.js";
import { readLabels } from "./words.js";

export default aboutFleet(
  command({
    name: "fleet work",
    summary: "take jobs from the fleet and do them here",
    input: z.object({
      driver: flag(z.string().optional(), {
        value: "<name>",
        about:
          "what runs agents here, several with commas, the preferred one first: codex, claude, opencode, acp, command, demo",
      }),
      command: flag(z.string().optional(), { value: "<line>", about: "the program for --driver acp or command" }),
      model: flag(z.string().optional(), { value: "<name>", about: "the model, in the agent program's own words" }),
      label: flag(z.array(z.string()).default([]), { short: "l", value: "<names>", about: "what this machine has" }),
      jobs: flag(z.coerce.number().int().min(1).max(64).default(1), {
        short: "j",
        value: "<n>",
        about: "how many at the same time (default: 1)",
      }),
      identity: flag(z.array(z.string()).default([]), {
        short: "i",
        value: "<file>",
        about: "keys that open vaults and sealed requests; they never leave this machine",
      }),
      from: flag(z.array(z.string()).default([]), {
        value: "<path>",
        about: "a folder or oci:// repository from which requests may come, besides the fleet's own store",
      }),
      folder: flag(z.string().optional(), {
        value: "<dir>",
        about: "where runs are while they last (default: in your state folder); nothing stays",
      }),
      metrics: flag(z.coerce.number().int().min(0).max(65_535).optional(), {
        value: "<port>",
        about: "figures for Prometheus on 127.0.0.1 (0: any free port)",
      }),
      untilEmpty: flag(z.boolean().default(false), { about: "end when nothing is left that it could take" }),
      noSandbox: flag(z.boolean().default(false), {
        about: "run agents and checks without bubblewrap, even of requests that were not made here",
      }),
      yes: flag(z.boolean().default(false), {
        short: "y",
        about: "do not ask whether strangers' requests may run here",
      }),
      ...FLEET_FLAGS,
    }),
    output: z.object({
      type: z.literal("result"),
      worker: z.string(),
      delivered: z.int(),
      failed: z.int(),
      handed_back: z.int(),
      discarded: z.int().describe("lost to another worker, or cancelled"),
    }),
    about: [
      "Does what whoever may submit to this fleet asks for, in the sandbox, with this machine's own programs and keys. A job that cannot be done here goes to another worker.",
      "SIGTERM or Ctrl-C drains it: runs write down where they are, and other workers go on from there. Killed, it loses its jobs after a lease, and they go on from their last checkpoint.",
    ],
    examples: [
      ["nexus fleet work --driver codex --label gpu --jobs 4 --yes", "four at a time"],
      ["nexus fleet work --driver demo --until-empty --yes", "what is there, then end"],
    ],
    stream: true,
    async run(input, context) {
      const labels = readLabels(input.label);
      const drivers = await driversOf(input, context);
      await askOnce(input, context);
      const settings = await settingsOf(input, context);
      const identity = input.identity.map((file) => resolve(context.cwd, file));
      const id = newWorkerId();
      const place = workPlace(input.folder, id, context);
      try {
        const options = { name: `nexus fleet work ${id}`, patient: true, filesApart: true };
        return await withFleet(settings, options, async (fleet) => {
          const worker = new FleetWorker(id, {
            fleet,
            context,
            drivers,
            labels,
            slots: input.jobs,
            folder: place.folder,
            programs: (driver) => programsOf(driver, { ...input, identity }, context),
            cipherFor: (job) => ciphersOf(job, identity, context),
            adopt: (folder) => recordStarted(folder, context),
            untilEmpty: input.untilEmpty,
          });
          if (input.metrics !== undefined) {
            const port = await serveMetrics({ fleet, worker, now: context.now }, input.metrics, context.signal);
            context.progress({ type: "metrics", port, message: `figures: http://127.0.0.1:${port}/metrics` });
          }
          const has = [...labels, ...drivers].join(", ");
          context.progress({ type: "working", worker: id, message: `${id} works for ${fleet.server} (${has})` });
          void tellOfLine(fleet, context);
          const { delivered, failed, handedBack, discarded } = await worker.work();
          return { type: "result" as const, worker: id, delivered, failed, handed_back: handedBack, discarded };
        });
      } finally {
        place.leave();
      }
    },
    text: ({ worker, delivered, failed, handed_back, discarded }) => [
      `${green("✓")} ${worker}: ${count(delivered, "job")} delivered, ${failed} failed, ${handed_back} handed over, ${discarded} let go`,
    ],
  }),
);

/** A worker waits for a server that is away; whoever looks at it is told so. */
async function tellOfLine({ nc, server }: Fleet, { progress, signal }: Context): Promise<void> {
  for await (const { type } of nc.status()) {
    if (signal.aborted) return;
    if (type === "disconnect")
      progress({ type: "server_away", message: `${server} does not answer; it is waited for` });
    if (type === "reconnect") progress({ type: "server_back", message: `${server} answers again` });
  }
}

interface Asked {
  readonly driver?: string | undefined;
  readonly command?: string | undefined;
  readonly model?: string | undefined;
  readonly from: readonly string[];
  readonly identity: readonly string[];
  readonly noSandbox: boolean;
  readonly yes: boolean;
}

/** Each is tried before anything is taken. */
async function driversOf({ driver, command, noSandbox }: Asked, context: Context): Promise<string[]> {
  const named = (driver?.split(",") ?? []).map((word) => word.trim()).filter((word) => word !== "");
  const drivers =
    named.length > 0
      ? [...new Set(named)]
      : [
          await chooseDriver(
            { named: undefined, configured: undefined, hasDemo: false, line: asTypedLine(context) },
            context,
          ),
        ];
  for (const name of drivers) {
    await findRunner({ driver: name, command: lineFor(name, command), env: context.env, noSandbox });
  }
  return drivers;
}

/** A line is for the programs that need one. */
const lineFor = (driver: string, line: string | undefined): string | undefined =>
  driver === "acp" || driver === "command" ? line : undefined;

function programsOf(driver: string, asked: Asked, { cwd, env }: Context): Programs {
  const command = lineFor(driver, asked.command);
  return {
    driver,
    ...(command === undefined ? {} : { command }),
    ...(asked.model === undefined ? {} : { model: asked.model }),
    identity: asked.identity,
    noSandbox: asked.noSandbox,
    places: asked.from.map((place) => (/^oci:\/\//.test(place) ? place : resolve(cwd, place))),
    // Who may ask the server is no business of a run.
    env: Object.fromEntries(Object.entries(env).filter(([name]) => !/^(?:NATS|NUT)_/.test(name))),
  };
}

/** Whoever starts a worker agrees to what its fleet may send; once, before anything is taken. */
async function askOnce({ yes, noSandbox }: Asked, context: Context): Promise<void> {
  if (yes) return;
  const where = noSandbox ? "without a sandbox: with all you can read and change" : "in the sandbox";
  const question = `Requests of whoever may submit to this fleet will run here, ${where}. Agree?`;
  if (context.ask !== null && (await context.ask.confirm(question, { initial: false }))) return;
  throw new NutError("CONSENT_NEEDED", "a worker runs requests that were not made here, and nobody agreed to that", {
    hint: `${asTypedLine(context)} --yes agrees, for as long as it runs`,
  });
}

const asTypedLine = ({ typed }: Context): string => typed ?? "nexus fleet work";

interface WorkPlace {
  readonly folder: string;
  leave(): void;
}

/** A folder of this worker alone, held by a lock; what dead workers left beside it goes. */
function workPlace(named: string | undefined, id: string, context: Context): WorkPlace {
  const state = named === undefined ? stateFolder(context.env) : null;
  const root = named === undefined ? state && join(state, "fleet-work") : resolve(context.cwd, named);
  if (root === null) {
    throw new NutError("FILE_UNWRITABLE", "no home folder is set, so there is no place for runs", {
      hint: `${asTypedLine(context)} --folder work`,
    });
  }
  makeFolder(root, 0o700);
  for (const name of readdirSync(root)) sweep(root, name);
  // Under its name only when it is held: another worker that starts just now takes what nobody holds for left behind.
  const fresh = join(root, `${id}.new`);
  makeFolder(fresh, 0o700);
  const lock = openLock(join(fresh, "lock"));
  lock.tryAcquire();
  const folder = join(root, id);
  renameSync(fresh, folder);
  return {
    folder,
    leave: () => {
      lock.release();
      removeFolder(folder);
    },
  };
}

/** A worker that dies while it starts leaves a folder that nobody holds; one that lives is done with it long before. */
const STARTING_MS = 60_000;

function sweep(root: string, name: string): void {
  const folder = join(root, name);
  if (/^[\w-]+-[0-9a-f]{6}\.new$/.test(name)) {
    const made = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY;
    if (Date.now() - made > STARTING_MS) removeFolder(folder);
    return;
  }
  if (!/^[\w-]+-[0-9a-f]{6}$/.test(name)) return;
  const path = join(folder, "lock");
  const lock = existsSync(path) ? openLock(path) : null;
  if (lock !== null && !lock.tryAcquire()) return;
  lock?.release();
  removeFolder(folder);
}

/** A sealed job's checkpoints are sealed for the fleet's own key, and its delivery for whoever submitted it. */
function ciphersOf(job: Job, identity: readonly string[], context: Context) {
  if (job.request.sealed !== true) return { checkpoints: null, delivery: null };
  const keys = peerIdentities(identity, context);
  const [own] = keys;
  if (own === undefined) {
    throw new NutError("BUNDLE_SEALED", "the request is sealed, and this worker has no key", {
      hint: "nexus fleet work --identity '<file>'",
    });
  }
  const open = (bytes: Uint8Array): Uint8Array => {
    for (const key of keys) {
      try {
        return openSealed(bytes, key);
      } catch (error) {
        if (!(error instanceof NutError) || error.code !== "BUNDLE_SEALED") throw error;
      }
    }
    throw new NutError("FLEET_CORRUPT", "what is stored of the run is sealed for another key", {
      hint: "it begins anew",
    });
  };
  const cipher = (peer: Uint8Array): Cipher => ({ seal: (bytes) => sealBundle(bytes, peer), open });
  const { reply } = job.request;
  return {
    checkpoints: cipher(own.publicKey),
    delivery: cipher(reply === undefined ? own.publicKey : parsePeer(reply)),
  };
}
