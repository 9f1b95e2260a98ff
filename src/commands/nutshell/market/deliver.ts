import { statSync } from "node:fs";
import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { dim, green } from "../../../cli/text.js";
import { NutError } from "../../../errors.js";
import { type DeliveryRoute, deliveryRoute, hashOf, type Market, NoAnswer } from "../../../market/index.js";
import type { Context } from "../../../operation.js";
import { isSealedFile } from "../../../request/pack/sealed.js";
import { lastMarketRow } from "../../../request/records/market-record.js";
import type { MarketTask } from "../../../schema/market.js";
import { CLAWNET, YES } from "./clawnet-flags.js";
import { confirm, connect, retyped } from "./connect.js";
import { type DoneWork, openWork } from "./done-work.js";
import { keepBytes, keptBefore } from "./kept-copies.js";
import { resolveTask } from "./resolve-task.js";

/** The daemon takes no claim below this. */
const LOWEST_SCORE = 0.6;

export default command({
  name: "deliver",
  summary: "send the work back",
  input: z.object({
    delivery: positional(z.string().optional(), { about: "the delivery: a .nut file, or the folder made by claim" }),
    dir: flag(z.string().optional(), {
      short: "d",
      value: "<dir>",
      about: "the folder made by claim (default: here)",
    }),
    task: flag(z.string().optional(), {
      value: "<id>",
      about: "the task it answers (default: the one that was claimed)",
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
    "Submits a delivery (or packs the folder as one) the way the task's state asks for: an assigned task is delivered, an open auction takes work from a bidder, an open simple task is claimed and delivered in one step. What answers a request that came sealed goes back sealed for its author.",
    "The author cannot download a delivery from the daemon: hand over the file this command names. Its hash is in the task's result, so nothing else can be passed off as it.",
  ],
  examples: [
    ["nutshell deliver done.nut", "what nexus run made of a claimed task"],
    ["nutshell deliver --dir workspace", "packs and submits work that was done by hand"],
  ],
  async run({ clawnet, delivery, dir, task: named, score, allow, yes }, context) {
    const path = namedWork(delivery, dir);
    const market = await connect(clawnet, context);
    const again = (words: string, changed: { task?: string; score?: number; allow?: readonly string[] } = {}) =>
      retyped(["deliver", words], { task: named, score, allow, ...changed, clawnet });
    const work = await openWork({ path, allow, again }, market.peerId, context);
    const task = await taskOf(work, { named, again: again(work.label) }, market, context);
    const sealed = isSealedWork(work, task, market, context);
    assertSameRequest(work, task, market, context);
    const line = (words: string) => market.line(words);

    // Asked before packing, so that a refusal costs nothing. Only what I delivered myself needs the hash to be judged.
    if (task.status === "open" || task.assigned_to !== market.peerId) {
      refuse(deliveryRoute({ task, me: market.peerId, bids: await market.bids(task.id), hash: "", line }));
    }
    const copy = work.copyPath(sealed);
    // What the task already names as its delivery. A sealed bundle is never the same twice, so it is not sealed again.
    const before = copy === null ? null : keptBefore(copy, (bytes) => task.result.includes(hashOf(bytes)));
    const bytes = before?.bytes ?? (await work.bytes(sealed ? task.author_id : undefined));
    const hash = hashOf(bytes);

    const route = deliveryRoute({ task, me: market.peerId, bids: await market.bids(task.id), hash, line });
    if (route.kind === "refuse") throw refusal(route);
    let file = before?.path ?? copy ?? path;
    if (route.kind !== "done") {
      const question = `deliver ${hash.slice(0, 19)}… for "${task.title}"?`;
      await confirm(context, { yes, question, command: again(work.label) });
      const rating = score ?? work.rating;
      if (route.kind === "claim") assertRated(rating, again(work.label, { score: 0.9 }));
      if (copy !== null) file = keepBytes(copy, bytes).path;
      await send(market, task, route.kind, { bytes, hash, rating });
    }
    work.sent();
    return { task_id: task.id, route: route.kind, delivery_id: work.deliveryId, hash, file, sealed };
  },
  text: ({ task_id, route, hash, file, sealed }) => [
    `${green("✓")} ${route === "done" ? "already delivered" : "delivered"} for ${task_id}`,
    `  ${hash}${sealed ? dim(" (sealed for the author)") : ""}`,
    `next: hand ${file} to the author, who checks it with: nutshell receive ${task_id} --file '<file>'`,
  ],
});

function namedWork(delivery: string | undefined, dir: string | undefined): string {
  if (delivery !== undefined && dir !== undefined) {
    throw new NutError("USAGE", `two things are named: ${delivery} and ${dir}`, { hint: "nutshell deliver done.nut" });
  }
  return delivery ?? dir ?? ".";
}

/** The task that was named, or claimed; else the one on the network that asks for this very request. */
async function taskOf(
  { requestId, clawnet }: DoneWork,
  { named, again }: { readonly named: string | undefined; readonly again: string },
  market: Market,
  { env }: Context,
): Promise<MarketTask> {
  if (named !== undefined) return resolveTask(market, named);
  const claimed = lastMarketRow(env, "claimed", ({ request }) => request === requestId);
  if (claimed !== null) return market.task(claimed.task);
  const open = ["open", "assigned", "submitted"];
  const asking = await market.find(
    (task) => task.nutshell_id === requestId && task.author_id !== market.peerId && open.includes(task.status),
  );
  if (asking.length === 1) return asking[0]!;
  // Other tools note the task in the manifest.
  if (asking.length === 0 && typeof clawnet.task_id === "string") return market.task(clawnet.task_id);
  const words = asking.length === 0 ? "nothing says which task it answers" : "several tasks ask for this request";
  throw new NutError("MARKET_NOT_READY", `${words} (${requestId})`, {
    hint: `${again} --task '<task id>'   (${market.line("tasks board")} shows them)`,
    data: { request_id: requestId, tasks: asking.map(({ id }) => id) },
  });
}

/** Whatever came to one peer alone goes back to its author alone. */
function isSealedWork({ clawnet }: DoneWork, task: MarketTask, market: Market, { env }: Context): boolean {
  const kept = lastMarketRow(env, "claimed", (row) => row.task === task.id)?.kept;
  const cameSealed = kept !== undefined && isThere(kept) && isSealedFile(kept);
  return cameSealed || task.target_peer === market.peerId || clawnet.sealed === true;
}

const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** What answers another request would be refused by the author, after a try that cannot be repeated. */
function assertSameRequest(
  { requestId, madeFrom, label }: DoneWork,
  task: MarketTask,
  market: Market,
  { env }: Context,
): void {
  const refused = (message: string) =>
    new NutError("MARKET_NOT_READY", message, {
      hint: market.line(`claim ${task.id} -o '<dir>'`),
      data: { task_id: task.id },
    });
  if (task.nutshell_id !== "" && task.nutshell_id !== requestId) {
    throw refused(`${label} answers ${requestId}, and the task asks for ${task.nutshell_id}`);
  }
  const published = lastMarketRow(env, "claimed", (row) => row.task === task.id)?.digest;
  if (madeFrom !== undefined && published !== undefined && madeFrom !== published) {
    throw refused(`${label} was made from another version of the request than the one that was published`);
  }
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

function assertRated(rating: number, hint: string): void {
  if (rating >= LOWEST_SCORE) return;
  const words = Number.isNaN(rating) ? "nothing says how complete the work is" : `the work is rated ${rating}`;
  throw new NutError("MARKET_NOT_READY", `${words}; a simple task takes a self-evaluation from ${LOWEST_SCORE} up`, {
    hint,
  });
}

async function send(market: Market, task: MarketTask, kind: "claim" | "deliver" | "work", sent: Sent): Promise<void> {
  const { bytes, hash, rating } = sent;
  const result = `delivery bundle: ${hash} (${bytes.length} bytes)`;
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
