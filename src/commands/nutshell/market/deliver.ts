import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { readManifest, writeManifest } from "../../../bundle/index.js";
import { command } from "../../../cli/command.js";
import { flag } from "../../../cli/fields.js";
import { dim, green } from "../../../cli/text.js";
import { NutError } from "../../../errors.js";
import { atomicWrite } from "../../../files/index.js";
import { type DeliveryRoute, deliveryRoute, hashOf, type Market, NoAnswer } from "../../../market/index.js";
import { Delivery } from "../../../schema/delivery.js";
import type { Manifest } from "../../../schema/manifest.js";
import type { MarketTask } from "../../../schema/market.js";
import { CLAWNET, YES } from "./clawnet-flags.js";
import { confirm, connect } from "./connect.js";
import { packBytes } from "./market-bundle.js";

/** The daemon takes no claim below this. */
const LOWEST_SCORE = 0.6;

export default command({
  name: "deliver",
  summary: "send the work back",
  input: z.object({
    dir: flag(z.string().default("."), {
      short: "d",
      value: "<dir>",
      about: "the folder made by claim (default: here)",
    }),
    score: flag(z.coerce.number().min(0).max(1, "a number from 0 to 1").optional(), {
      value: "<0..1>",
      about: "self-evaluation for a simple task (default: the share of proven criteria)",
    }),
    allow: flag(z.array(z.string()).default([]), {
      value: "<path>",
      about: "deliver this file although it looks like a secret",
    }),
    ...YES,
    ...CLAWNET,
  }),
  output: z.object({
    task_id: z.string(),
    route: z.enum(["claim", "deliver", "work", "done"]),
    delivery_id: z.string(),
    hash: z.string(),
    file: z.string().describe("the delivery; the author needs this file from you"),
    sealed: z.boolean(),
  }),
  about: [
    "Packs the folder as a delivery and submits it the way the task's state asks for: an assigned task is delivered, an open auction takes work from a bidder, an open simple task is claimed and delivered in one step.",
    "The author cannot download a delivery from the daemon: hand over the file this command keeps. Its hash is in the task's result, so nothing else can be passed off as it.",
  ],
  examples: [["nutshell deliver --dir workspace", "packs and submits the work"]],
  async run({ clawnet, dir, score, allow, yes }, context) {
    const folder = resolve(context.cwd, dir);
    const manifest = readManifest(folder);
    const { task_id: taskId, sealed } = clawnetFields(manifest);
    const market = await connect(clawnet, context);
    const task = await market.task(taskId);
    const delivery = asDelivery(manifest, market.peerId);
    const file = `${folder}.delivery.nut`;
    const peer = sealed ? task.author_id : undefined;

    // Asked before packing, so that a refusal costs nothing. Only what I delivered myself needs the hash to be judged.
    if (task.status === "open" || task.assigned_to !== market.peerId) {
      refuse(deliveryRoute({ task, me: market.peerId, bids: await market.bids(taskId), hash: "" }));
    }
    const rating = score ?? ratingOf(folder);
    const bytes = sentBefore(file, task) ?? (await packBytes({ folder, manifest: delivery, peer, allow }, context));
    const hash = hashOf(bytes);

    const route = deliveryRoute({ task, me: market.peerId, bids: await market.bids(taskId), hash });
    if (route.kind === "refuse") throw refusal(route);
    if (route.kind !== "done") {
      const question = `deliver ${hash.slice(0, 19)}… for "${task.title}"?`;
      await confirm(context, { yes, question, command: `nutshell deliver --dir ${dir}` });
      atomicWrite(file, bytes);
      await send(market, task, route.kind, { bytes, hash, rating });
    }
    writeManifest(folder, delivery);
    return { task_id: taskId, route: route.kind, delivery_id: delivery.id, hash, file, sealed };
  },
  text: ({ task_id, route, hash, file, sealed }) => [
    `${green("✓")} ${route === "done" ? "already delivered" : "delivered"} for ${task_id}`,
    `  ${hash}${sealed ? dim(" (sealed for the author)") : ""}`,
    `next: hand ${file} to the author, who checks it with: nutshell receive ${task_id} --file <file>`,
  ],
});

function clawnetFields(manifest: Manifest): { task_id: string; sealed: boolean } {
  const clawnet = (manifest.extensions?.clawnet ?? {}) as Record<string, unknown>;
  if (typeof clawnet.task_id !== "string") {
    throw new NutError(
      "MARKET_NOT_READY",
      "this folder does not say which task it answers: no extensions.clawnet.task_id",
      {
        hint: "nutshell claim <task id> -o <dir>",
      },
    );
  }
  return { task_id: clawnet.task_id, sealed: clawnet.sealed === true };
}

/** The manifest as it is sent. The id follows from request and worker, so that a second try is the same delivery. */
function asDelivery(manifest: Manifest, me: string): Manifest {
  if (manifest.bundle_type === "delivery") return manifest;
  const digest = createHash("sha256").update(`${manifest.id}\n${me}`).digest("hex");
  const id = `nut-${[digest.slice(0, 8), digest.slice(8, 12), digest.slice(12, 16), digest.slice(16, 20), digest.slice(20, 32)].join("-")}`;
  return { ...manifest, bundle_type: "delivery", id, request_id: manifest.id, parent_id: manifest.id };
}

/** What the task already names as its delivery. A sealed bundle is never the same twice, so it is not packed again. */
function sentBefore(file: string, task: MarketTask): Buffer | null {
  const bytes = existsSync(file) ? readFileSync(file) : null;
  return bytes !== null && task.result.includes(hashOf(bytes)) ? bytes : null;
}

/** What the harness measured, if it did; a delivery without evidence has to be rated by a person. */
function ratingOf(folder: string): number {
  const path = join(folder, "delivery/result.json");
  if (!existsSync(path)) return Number.NaN;
  const result = Delivery.safeParse(JSON.parse(readFileSync(path, "utf8")));
  return result.success ? (result.data.completion_percentage ?? Number.NaN) / 100 : Number.NaN;
}

function refuse(route: DeliveryRoute): void {
  if (route.kind === "refuse") throw refusal(route);
}

const refusal = ({ message, hint }: Extract<DeliveryRoute, { kind: "refuse" }>) =>
  new NutError("MARKET_STATE", message, { hint });

interface Sent {
  readonly bytes: Buffer;
  readonly hash: string;
  readonly rating: number;
}

async function send(market: Market, task: MarketTask, kind: "claim" | "deliver" | "work", sent: Sent): Promise<void> {
  const { bytes, hash, rating } = sent;
  const result = `delivery bundle: ${hash} (${bytes.length} bytes)`;
  if (kind === "claim" && !(rating >= LOWEST_SCORE)) {
    const words = Number.isNaN(rating) ? "nothing says how complete the work is" : `the work is rated ${rating}`;
    throw new NutError("MARKET_NOT_READY", `${words}; a simple task takes a self-evaluation from ${LOWEST_SCORE} up`, {
      hint: "nutshell deliver --score 0.9",
    });
  }
  try {
    if (kind === "deliver") await market.deliver(task.id, bytes);
    else {
      await market.attach(task.id, bytes);
      if (kind === "claim") await market.claim(task.id, result, Math.min(rating, 1));
      else await market.work(task.id, result);
    }
  } catch (error) {
    if (!(await arrived(market, task.id, hash, error))) throw error;
  }
}

/** After a lost answer or a server error: did it get through all the same? */
async function arrived(market: Market, id: string, hash: string, error: unknown): Promise<boolean> {
  const status = error instanceof NutError ? Number(error.data.status ?? 0) : 0;
  if (!(error instanceof NoAnswer) && status < 409) return false;
  const task = await market.task(id);
  if (task.assigned_to === market.peerId && task.result.includes(hash)) return true;
  const own = (await market.submissions(id)).find(({ worker_id }) => worker_id === market.peerId);
  return own?.result.includes(hash) === true;
}
