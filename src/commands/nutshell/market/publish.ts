import { rmSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { readManifest, writeManifest } from "../../../bundle/index.js";
import { command } from "../../../cli/command.js";
import { flag } from "../../../cli/fields.js";
import { bold, dim, green } from "../../../cli/text.js";
import { type Finding, NutError, shellWord } from "../../../errors.js";
import {
  type Cost,
  costOf,
  hashOf,
  type Market,
  NoAnswer,
  type PreflightFacts,
  preflight,
  resolveReward,
  sameHash,
} from "../../../market/index.js";
import type { Context } from "../../../operation.js";
import { recordPacked } from "../../../request/records/consent-record.js";
import { lastMarketRow, recordMarket } from "../../../request/records/market-record.js";
import type { Manifest } from "../../../schema/manifest.js";
import type { MarketTask } from "../../../schema/market.js";
import { parsePeer, peerIdOf, sealBundle } from "../../../vault/index.js";
import { CLAWNET, YES } from "./clawnet-flags.js";
import { confirm, connect, retyped } from "./connect.js";
import { type Kept, keepBytes, keptBefore } from "./kept-copies.js";
import { packBytes } from "./market-bundle.js";

export default command({
  name: "publish",
  summary: "offer a task on the network",
  input: z.object({
    dir: flag(z.string().default("."), { short: "d", value: "<dir>", about: "the request's folder (default: here)" }),
    reward: flag(z.string().optional(), { value: "<shells>", about: "0, or a whole number from 100 up" }),
    peer: flag(z.string().optional(), {
      value: "<peer>",
      about: "seal it for one peer: 64 hex digits or a 12D3KooW… peer id",
    }),
    simple: flag(z.boolean().default(false), { about: "the first to deliver is paid at once, without review" }),
    allow: flag(z.array(z.string()).default([]), {
      value: "<path>",
      about: "publish this file although it looks like a secret",
    }),
    ...YES,
    ...CLAWNET,
  }),
  output: z.object({
    task_id: z.string(),
    nutshell_id: z.string(),
    hash: z.string(),
    reward: z.number(),
    fee: z.number(),
    mode: z.enum(["simple", "auction"]),
    target_peer: z.string(),
    sealed: z.boolean(),
    /** The task was there already: an earlier try got through. */
    repeated: z.boolean(),
    kept: z.string().describe("copy of the request as published, which you can open"),
    warnings: z.array(z.string()),
    next: z.string(),
  }),
  about: [
    "Packs the folder, checks it, and offers it on the network. Nothing is sent until everything that could go wrong has been looked at: completeness, leaks, reward and fee against the balance, size and deadline.",
    "The reward is --reward, else extensions.clawnet.reward in the manifest, else 100 shells. Publishing again after a failure is safe: an earlier try that got through is found and finished.",
  ],
  examples: [
    ["nutshell publish --dir my-task --reward 500", "bidders offer, you choose one and review the work"],
    ["nutshell publish --dir my-task --peer 12D3KooW…", "sealed for one peer, who alone can open it"],
  ],
  async run({ clawnet, dir, reward: rewardFlag, peer, simple, allow, yes }, context) {
    const folder = resolve(context.cwd, dir);
    const manifest = readManifest(folder);
    if (manifest.bundle_type !== "request") {
      throw new NutError("MARKET_NOT_READY", `only a request can be published; this is a ${manifest.bundle_type}`, {
        hint: `nutshell set bundle_type request --dir ${shellWord(dir)}, or publish another folder: --dir '<dir>'`,
      });
    }
    const cost = costOf(resolveReward(rewardFlag, manifest.extensions?.clawnet, dir));
    const target = peer === undefined ? "" : peerIdOf(parsePeer(peer));
    const market = await connect(clawnet, context);
    const published = withClawnet(manifest, { peer_id: market.peerId, reward: rewardField(cost.reward) });
    const { bytes: clear, digest } = await packBytes({ folder, manifest: published, allow }, context);
    const bytes =
      peer === undefined ? clear : await sealedBytes(market, { manifest, clear, digest, folder, peer }, context);

    const warnings = await refuseOrWarn(
      market,
      { cost, bytes: bytes.length, expiresAt: manifest.expires_at, dir },
      context,
    );
    const mode = simple ? ("simple" as const) : ("auction" as const);
    const command = retyped(["publish"], { dir, reward: rewardFlag, peer, simple, allow, clawnet });
    const draft: Draft = { manifest, mode, target, cost, bytes, clear, command, folder };
    const existing = await existingTask(market, draft);
    if (existing === null) {
      await confirm(context, { yes, question: question(draft), command });
    }
    const task = existing ?? (await create(market, draft));
    await upload(market, task, draft);
    const kept = keepBytes(copyPath(folder), clear).path;
    recordPacked(folder, digest, context);
    recordMarket({ kind: "published", task: task.id, request: manifest.id, digest, kept }, context);

    writeManifest(folder, withClawnet(published, { task_id: task.id }));
    return {
      task_id: task.id,
      nutshell_id: manifest.id,
      hash: hashOf(bytes),
      reward: task.reward,
      fee: cost.fee,
      mode,
      target_peer: target,
      sealed: peer !== undefined,
      repeated: existing !== null,
      kept,
      warnings: simple ? ["simple mode: the first to deliver is paid at once, without review", ...warnings] : warnings,
      next: market.line(mode === "auction" ? `bids ${task.id}` : `tasks show ${task.id}`),
    };
  },
  text: (task) => [
    `${green("✓")} ${task.repeated ? "already published, now complete" : "published"} as ${bold(task.task_id)}`,
    `  ${task.reward} shells held, ${task.fee} fee; ${task.mode}${task.target_peer === "" ? "" : `, for ${task.target_peer}`}`,
    `  ${task.hash}`,
    dim(`  kept: ${task.kept}`),
    ...task.warnings.map((warning) => dim(`  note: ${warning}`)),
    `next: ${task.next}`,
  ],
});

interface Draft {
  readonly manifest: Manifest;
  readonly mode: "simple" | "auction";
  readonly target: string;
  readonly cost: Cost;
  /** What the network gets. */
  readonly bytes: Buffer;
  /** The same before it was sealed, if it was. */
  readonly clear: Buffer;
  /** What was typed, to be typed again. */
  readonly command: string;
  readonly folder: string;
}

const copyPath = (folder: string): string => `${folder}.request.nut`;
const sealedPath = (folder: string): string => `${folder}.sealed.nut`;

const rewardField = (amount: number) => ({ amount, currency: "shells" });

/** Changes named fields of extensions.clawnet and keeps every other one. A stale task id never travels. */
function withClawnet(manifest: Manifest, fields: Record<string, unknown>): Manifest {
  const { task_id: _stale, ...kept } = (manifest.extensions?.clawnet ?? {}) as Record<string, unknown>;
  const reward = typeof kept.reward === "object" && kept.reward !== null ? kept.reward : {};
  const merged = {
    ...kept,
    ...fields,
    ...("reward" in fields ? { reward: { ...reward, ...(fields.reward as object) } } : {}),
  };
  return { ...manifest, extensions: { ...manifest.extensions, clawnet: merged } };
}

async function refuseOrWarn(
  market: Market,
  facts: Pick<PreflightFacts, "cost" | "bytes" | "expiresAt" | "dir">,
  context: Context,
): Promise<string[]> {
  const { balance } = await market.balance();
  const findings = preflight({ ...facts, balance, now: context.now(), line: (words) => market.line(words) });
  const error = findings.find(({ severity }) => severity === "error");
  if (error !== undefined) {
    throw new NutError("MARKET_NOT_READY", `${error.message}; nothing was sent`, {
      hint: error.fix ?? "nutshell publish --help",
      data: { findings },
    });
  }
  return findings.map(({ message }: Finding) => message);
}

function question({ manifest, mode, target, cost }: Draft): string {
  const price =
    cost.reward === 0 ? "help wanted (1 shell is held)" : `${cost.reward} shells + ${cost.fee} fee, not refunded`;
  const whom = target === "" ? "everybody on the network" : target;
  const review = mode === "simple" ? "; paid without review" : "";
  return `publish "${manifest.task?.title ?? manifest.id}" to ${whom} for ${price}${review}?`;
}

interface Sealing {
  readonly manifest: Manifest;
  readonly clear: Buffer;
  readonly digest: string;
  readonly folder: string;
  readonly peer: string;
}

/** No bundle is sealed the same way twice: after a lost answer the one that was announced is the one to send. */
async function sealedBytes(
  market: Market,
  { manifest, clear, digest, folder, peer }: Sealing,
  { env }: Context,
): Promise<Buffer> {
  const tasks = await market.ownTasksFor(manifest.id);
  const announced = (bytes: Buffer) => tasks.find(({ nutshell_hash }) => sameHash(nutshell_hash, bytes));
  const before = keptBefore(sealedPath(folder), (bytes) => announced(bytes) !== undefined);
  if (before === null) return Buffer.from(sealBundle(clear, parsePeer(peer)));
  const task = announced(before.bytes)!;
  // What was sealed cannot be looked into by its author; what it held is on record.
  const row = lastMarketRow(env, "published", (one) => one.task === task.id);
  if (row?.digest !== undefined && row.digest !== digest) throw otherContent(market, task);
  return before.bytes;
}

/** A live task made from this very bundle, from an earlier try; a different one under the same id is refused. */
async function existingTask(market: Market, { manifest, bytes }: Draft): Promise<MarketTask | null> {
  const tasks = await market.ownTasksFor(manifest.id);
  const same = tasks.find(({ nutshell_hash }) => sameHash(nutshell_hash, bytes));
  if (same !== undefined) return same;
  const other = tasks[0];
  if (other === undefined) return null;
  throw otherContent(market, other);
}

const otherContent = (market: Market, { id }: MarketTask) =>
  new NutError("MARKET_STATE", `this request is already published as ${id}, with other content`, {
    hint: market.line(`cancel ${id}`),
    data: { task_id: id },
  });

async function create(market: Market, draft: Draft): Promise<MarketTask> {
  const { manifest, mode, target, cost, bytes, clear, folder } = draft;
  // Kept before it is announced, so that whatever happens next the announced bytes can still be sent.
  const copies = [keepBytes(copyPath(folder), clear)];
  if (bytes !== clear) copies.push(keepBytes(sealedPath(folder), bytes));
  try {
    return await market.create({
      title: manifest.task?.title ?? manifest.id,
      description: manifest.task?.summary ?? "",
      reward: cost.reward,
      tags: manifest.tags?.skills_required ?? [],
      nutshell_hash: hashOf(bytes),
      nutshell_id: manifest.id,
      bundle_type: manifest.bundle_type,
      mode,
      ...(manifest.expires_at === undefined ? {} : { deadline: manifest.expires_at }),
      ...(target === "" ? {} : { target_peer: target }),
    });
  } catch (error) {
    return afterFailedCreate(market, draft, copies, error);
  }
}

/** A failed answer does not mean that nothing happened: look before anything is repeated. */
async function afterFailedCreate(
  market: Market,
  draft: Draft,
  copies: readonly Kept[],
  error: unknown,
): Promise<MarketTask> {
  const status = error instanceof NutError ? Number(error.data.status ?? 0) : 0;
  const found = error instanceof NoAnswer || status >= 500 ? await existingTask(market, draft) : null;
  if (found === null) {
    for (const { path, fresh } of copies) if (fresh) rmSync(path, { force: true });
    throw error;
  }
  if (error instanceof NutError && /insufficient credits/.test(error.message)) {
    throw new NutError(
      "MARKET_STATE",
      `the daemon burned the fee of ${draft.cost.fee} shells, then found too few for the reward, and left task ${found.id} behind without money`,
      { hint: market.line(`tasks show ${found.id}`), data: { task_id: found.id } },
    );
  }
  return found;
}

async function upload(market: Market, task: MarketTask, { bytes, command }: Draft): Promise<void> {
  try {
    await market.attach(task.id, bytes);
  } catch (error) {
    throw new NutError(
      "MARKET_UPLOAD_FAILED",
      `task ${task.id} is published, but its bundle did not arrive: ${error instanceof Error ? error.message : String(error)}`,
      {
        hint: `try again: ${command} --yes   or take it back: ${market.line(`cancel ${task.id}`)}`,
        data: { task_id: task.id },
        cause: error,
      },
    );
  }
}
