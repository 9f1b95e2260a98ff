import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { z } from "zod";
import { newBundleId, readManifest, writeManifest } from "../../../bundle/index.js";
import { command } from "../../../cli/command.js";
import { flag } from "../../../cli/fields.js";
import { green, yellow } from "../../../cli/text.js";
import { NutError, shellWord } from "../../../errors.js";
import { makeFolder } from "../../../files/index.js";
import { hashOf, type Market, sameHash } from "../../../market/index.js";
import type { Context } from "../../../operation.js";
import { defaultName } from "../../../request/pack/default-name.js";
import { type MarketRow, recordMarket } from "../../../request/records/market-record.js";
import type { Manifest } from "../../../schema/manifest.js";
import type { MarketTask } from "../../../schema/market.js";
import { isSealed } from "../../../vault/index.js";
import { CLAWNET, TASK } from "./clawnet-flags.js";
import { connect, retyped } from "./connect.js";
import { keepBytes, workWords } from "./kept-copies.js";
import { unpackForMarket } from "./market-bundle.js";
import { resolveTask } from "./resolve-task.js";

export default command({
  name: "claim",
  summary: "fetch a task to work on",
  input: z.object({
    ...TASK,
    output: flag(z.string().optional(), {
      short: "o",
      value: "<dir>",
      about: "folder to make (default: from the title)",
    }),
    identity: flag(z.string().optional(), {
      short: "i",
      value: "<file>",
      about: "key that opens a sealed bundle (default: the daemon's)",
    }),
    ...CLAWNET,
  }),
  output: z.object({
    task_id: z.string(),
    title: z.string(),
    dir: z.string(),
    mode: z.string(),
    status: z.string(),
    sealed: z.boolean(),
    /** `published`: the bytes are those the author named; `none`: the author named no hash, or there is no bundle. */
    verified: z.enum(["published", "none"]),
    kept: z.string().nullable().describe("copy of the request as downloaded"),
    next: z.string(),
  }),
  about: [
    "Downloads the bundle, checks it against the hash the author published, opens it if it was sealed for you, and unpacks it. The folder holds the request exactly as it was published; which task it belongs to is noted in your own records, where deliver finds it.",
  ],
  examples: [["nutshell claim 3f2a -o workspace", "a folder to work in"]],
  async run({ clawnet, id, output, identity }, context) {
    const market = await connect(clawnet, context);
    const task = await resolveTask(market, id);
    const again = (where: readonly string[]) => retyped(["claim", task.id, ...where], { identity, clawnet });
    if (task.target_peer !== "" && task.target_peer !== market.peerId) {
      throw new NutError("MARKET_STATE", "the task is meant for another peer", {
        hint: `${market.line("tasks board")} shows what is open to you`,
        data: { target_peer: task.target_peer },
      });
    }
    const dir = resolve(context.cwd, output ?? defaultName(task.title).replace(/\.nut$/, ""));
    if (existsSync(dir)) {
      throw new NutError("FILE_EXISTS", `${dir} already exists`, {
        hint: again(["-o", "'<other dir>'"]),
      });
    }
    const bytes = await fetchBundle(market, task, again(output === undefined ? [] : ["-o", shellWord(output)]));
    const sealed = bytes !== null && isSealed(bytes);
    if (bytes === null) await writeFromMetadata(dir, task, context);
    const digest = bytes === null ? undefined : await unpackForMarket({ bytes, dir, identity }, context);
    let kept: string | null;
    try {
      kept = bytes === null ? null : keepBytes(`${dir}.request.nut`, bytes).path;
      noteClaim({ task: task.id, request: readManifest(dir).id, digest, kept: kept ?? undefined }, context);
    } catch (error) {
      rmSync(dir, { recursive: true, force: true });
      throw error;
    }
    return {
      task_id: task.id,
      title: task.title,
      dir,
      mode: task.mode || "simple",
      status: task.status,
      sealed,
      verified: bytes !== null && task.nutshell_hash !== "" ? ("published" as const) : ("none" as const),
      kept,
      next: nextStep(task, market, workWords({ dir, kept, identity, clawnet })),
    };
  },
  text: (task) => [
    `${green("✓")} ${task.title} → ${task.dir}`,
    task.verified === "published"
      ? `  ${task.sealed ? "opened, and " : ""}checked against the published hash`
      : `  ${yellow("unverified:")} the author published no hash`,
    `next: ${task.next}`,
  ],
});

/** `again` is the command to repeat when the bundle is not there yet. */
async function fetchBundle(market: Market, task: MarketTask, again: string): Promise<Buffer | null> {
  const bytes = await market.download(task.id);
  if (bytes === null) {
    if (task.nutshell_hash === "") return null;
    throw new NutError("MARKET_NO_BUNDLE", "the task has a bundle, but neither this node nor its peers have it yet", {
      hint: `try again later: ${again}`,
    });
  }
  if (task.nutshell_hash !== "" && !sameHash(task.nutshell_hash, bytes)) {
    throw new NutError("MARKET_HASH_MISMATCH", "the bundle is not the one the author published; nothing was unpacked", {
      hint: `try again later: ${again}`,
      data: { published: task.nutshell_hash, received: hashOf(bytes) },
    });
  }
  return bytes;
}

/** A task published without a bundle still becomes a folder to work in. */
async function writeFromMetadata(dir: string, task: MarketTask, context: Context): Promise<void> {
  const manifest: Manifest = {
    nutshell_version: "0.2.0",
    bundle_type: "request",
    id: newBundleId(),
    created_at: context.now().toISOString(),
    task: { title: task.title, summary: task.description },
    tags: { skills_required: task.tags },
    publisher: { name: task.author_name, tool: "clawnet" },
    context: { requirements: "context/requirements.md" },
  };
  makeFolder(dirname(dir));
  const fresh = mkdtempSync(join(dirname(dir), `.${basename(dir)}-`));
  try {
    mkdirSync(join(fresh, "context"));
    writeFileSync(join(fresh, "context/requirements.md"), `# ${task.title}\n\n${task.description}\n`);
    writeManifest(fresh, manifest);
    renameSync(fresh, dir);
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    throw error;
  }
}

/** Nothing in the folder changes: a request that was edited is another one, and no delivery of it would verify. */
function noteClaim(row: Omit<MarketRow, "kind">, context: Context): void {
  const problem = recordMarket({ kind: "claimed", ...row }, context);
  if (problem === null) return;
  const message = `it could not be noted which task this is (${problem}): deliver it with --task ${row.task}`;
  context.progress({ type: "warning", message });
}

function nextStep(task: MarketTask, market: Market, work: string): string {
  if (task.status === "assigned" && task.assigned_to === market.peerId) return work;
  if (task.status !== "open") return `the task is ${task.status}; nothing can be delivered now`;
  if (task.mode === "auction") return `${market.line(`bid ${task.id}`)}, and when it is yours: ${work}`;
  return `nothing is reserved: the first to deliver is paid. ${work}`;
}
