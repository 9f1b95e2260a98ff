import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { NutError, shellWord } from "../../../errors.js";
import { hashOf, type Market, sameHash } from "../../../market/index.js";
import { operation } from "../../../operation.js";
import type { MarketTask } from "../../../schema/market.js";
import { connect } from "./connect.js";
import { verifyForMarket } from "./market-bundle.js";
import { settleTask } from "./settle.js";
import { resolveTask } from "./tasks.js";

export const receive = operation({
  name: "market_receive",
  summary: "check a delivery against what was submitted, then approve or reject",
  input: z.object({
    clawnet: z.string().optional(),
    id: z.string(),
    file: z.string(),
    request: z.string().optional(),
    identity: z.string().optional(),
    rerun: z.boolean().default(false),
    approve: z.boolean().default(false),
    reject: z.boolean().default(false),
    yes: z.boolean().default(false),
  }),
  output: z.object({
    task_id: z.string(),
    hash: z.string(),
    verified: z.boolean(),
    verification: z.unknown(),
    settled: z.enum(["approved", "rejected"]).nullable(),
    paid: z.number(),
  }),
  async run({ clawnet, id, file, request, identity, rerun, approve, reject, yes }, context) {
    if (approve && reject)
      throw new NutError("USAGE", "--approve and --reject exclude each other", { hint: "nutshell receive --help" });
    const market = await connect(clawnet, context);
    const task = await resolveTask(market, id);
    const bytes = readFileSync(resolve(context.cwd, file));
    await expectSubmitted(market, task, bytes);
    const verification = await verifyForMarket({ bytes, file, identity, request, rerun }, context);
    const { verified } = verification;

    if (approve && !verified) {
      throw new NutError("MARKET_UNPROVEN", "the delivery does not prove what it claims; it was not approved", {
        hint: `look at it: nutshell verify ${shellWord(file)}   approve all the same: nutshell approve ${task.id}`,
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
