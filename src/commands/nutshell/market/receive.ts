import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag } from "../../../cli/fields.js";
import { green, red } from "../../../cli/text.js";
import { NutError, shellWord } from "../../../errors.js";
import { hashOf, type Market, sameHash } from "../../../market/index.js";
import type { MarketTask } from "../../../schema/market.js";
import { ALLOW_ORIGIN } from "../acceptance/acceptance-flags.js";
import { CLAWNET, OWN_TASK, YES } from "./clawnet-flags.js";
import { connect } from "./connect.js";
import { verifyForMarket } from "./market-bundle.js";
import { resolveTask } from "./resolve-task.js";
import { settleTask } from "./settle-task.js";

export default command({
  name: "receive",
  summary: "check a delivery, then approve or reject",
  input: z.object({
    ...OWN_TASK,
    file: flag(z.string(), { value: "<file>", about: "the delivery the worker handed over" }),
    request: flag(z.string().optional(), {
      short: "r",
      value: "<request>",
      about: "the request as published (kept by publish)",
    }),
    identity: flag(z.string().optional(), {
      short: "i",
      value: "<file>",
      about: "key that opens a sealed delivery (default: the daemon's)",
    }),
    rerun: flag(z.boolean().default(false), { about: "run the acceptance again in a clean folder" }),
    approve: flag(z.boolean().default(false), { about: "run the acceptance here, and pay when it verifies" }),
    reject: flag(z.boolean().default(false), { about: "refuse it" }),
    ...ALLOW_ORIGIN,
    ...YES,
    ...CLAWNET,
  }),
  output: z.object({
    task_id: z.string(),
    hash: z.string(),
    verified: z.boolean(),
    verification: z.unknown(),
    settled: z.enum(["approved", "rejected"]).nullable(),
    paid: z.number(),
  }),
  about: [
    "Checks that the file is the delivery that was submitted, then verifies it: hashes, links to the request, and whether each claim is proven, judged or only said. On a terminal it then asks what to do.",
  ],
  examples: [
    [
      "nutshell receive 3f2a --file work.delivery.nut -r task.nut --approve --yes",
      "verify by running the tests here, then pay",
    ],
  ],
  async run({ clawnet, id, file, request, identity, rerun, approve, reject, yes, allowOrigin }, context) {
    if (approve && reject)
      throw new NutError("USAGE", "--approve and --reject exclude each other", { hint: "nutshell receive --help" });
    const market = await connect(clawnet, context);
    const task = await resolveTask(market, id);
    const bytes = readFileSync(resolve(context.cwd, file));
    await expectSubmitted(market, task, bytes);
    if (approve && request === undefined) {
      throw new NutError("USAGE", "--approve runs the acceptance here, which needs the request as published", {
        hint: `nutshell receive ${shellWord(id)} --file ${shellWord(file)} --request task.nut --approve`,
      });
    }
    const verification = await verifyForMarket(
      { bytes, file, identity, request, rerun: rerun || approve, yes, allowOrigin },
      context,
    );
    const { verified } = verification;

    if (approve && !verified) {
      throw new NutError("MARKET_UNPROVEN", "the delivery does not prove what it claims; it was not approved", {
        hint: `look at it: nutshell verify ${shellWord(file)} --request ${shellWord(request ?? "task.nut")} --rerun   approve all the same: nutshell approve ${task.id}`,
        data: { verification },
      });
    }
    const wanted = approve ? "approve" : reject ? "reject" : await ask(verified, context.ask);
    if (wanted === null)
      return { task_id: task.id, hash: hashOf(bytes), verified, verification, settled: null, paid: 0 };
    const { paid } = await settleTask(market, task, wanted, context, yes || (!approve && !reject));
    const settled = wanted === "approve" ? ("approved" as const) : ("rejected" as const);
    return { task_id: task.id, hash: hashOf(bytes), verified, verification, settled, paid };
  },
  text: ({ task_id, hash, verified, settled, paid }) => [
    `${green("✓")} this is the delivery that was submitted: ${hash}`,
    verified ? `${green("✓")} it proves what it claims` : `${red("✗")} it does not prove what it claims`,
    settled === null
      ? `next: nutshell approve ${task_id}   or: nutshell reject ${task_id}`
      : `${settled}${paid > 0 ? `, ${paid} shells paid` : ""}`,
  ],
  exit: ({ verified }) => (verified ? 0 : 1),
});

/** The daemon never gives the author the delivery, so its hash in the result is what ties the file to the task. */
async function expectSubmitted(market: Market, task: MarketTask, bytes: Buffer): Promise<void> {
  const results = [task.result, ...(await market.submissions(task.id)).map(({ result }) => result)];
  const hashes = results.flatMap((result) => [...result.matchAll(/sha256:([0-9a-f]{64})/gi)].map(([, hex]) => hex!));
  if (hashes.length === 0) {
    throw new NutError("MARKET_STATE", `task ${task.id} (${task.status}) names no delivery`, {
      hint: `nutshell tasks show ${task.id}`,
    });
  }
  if (hashes.some((hash) => sameHash(hash, bytes))) return;
  throw new NutError("MARKET_HASH_MISMATCH", "this file is not the delivery that was submitted", {
    hint: "ask the worker for the file again",
    data: { submitted: hashes.map((hash) => `sha256:${hash}`), file: hashOf(bytes) },
  });
}

async function ask(
  verified: boolean,
  prompter: { confirm(question: string): Promise<boolean> } | null,
): Promise<"approve" | "reject" | null> {
  if (prompter === null) return null;
  if (
    await prompter.confirm(
      verified
        ? "the delivery holds; approve and pay?"
        : "the delivery does NOT prove what it claims; approve and pay all the same?",
    )
  ) {
    return "approve";
  }
  return (await prompter.confirm("reject it? the worker gets no second try")) ? "reject" : null;
}
