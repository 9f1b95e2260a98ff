import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag } from "../../../cli/fields.js";
import { dim, green, red, yellow } from "../../../cli/text.js";
import { fromSystemError, NutError, shellWord } from "../../../errors.js";
import { hashOf, type Market, sameHash } from "../../../market/index.js";
import type { Context } from "../../../operation.js";
import { lastMarketRow, type MarketRow, recordMarket } from "../../../request/records/market-record.js";
import type { MarketTask } from "../../../schema/market.js";
import { ALLOW_INSTALL, ALLOW_ORIGIN } from "../acceptance/acceptance-flags.js";
import type { Verification } from "../acceptance/verify.js";
import { CLAWNET, OWN_TASK, YES } from "./clawnet-flags.js";
import { connect, retyped } from "./connect.js";
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
      about: "the request as published (default: the copy publish kept)",
    }),
    identity: flag(z.string().optional(), {
      short: "i",
      value: "<file>",
      about: "key that opens a sealed delivery (default: the daemon's)",
    }),
    rerun: flag(z.boolean().default(false), { about: "run the acceptance again in a clean folder" }),
    approve: flag(z.boolean().default(false), { about: "run the acceptance here, and pay when it verifies" }),
    waive: flag(z.string().optional(), {
      value: "<text>",
      about: "with --approve: pay without proof, for this reason, which goes on record",
    }),
    reject: flag(z.boolean().default(false), { about: "refuse it" }),
    ...ALLOW_ORIGIN,
    ...ALLOW_INSTALL,
    ...YES,
    ...CLAWNET,
  }),
  output: z.object({
    task_id: z.string(),
    hash: z.string(),
    verified: z.boolean(),
    why: z.array(z.string()).describe("what keeps it from being verified"),
    verification: z.unknown(),
    settled: z.enum(["approved", "rejected"]).nullable(),
    paid: z.number(),
    waived: z.string().nullable().describe("why it was paid without proof"),
    next: z.string().nullable().describe("what is left to do, when nothing was decided"),
  }),
  about: [
    "Checks that the file is the delivery that was submitted, then verifies it: hashes, links to the request, and whether each claim is proven, judged or only said. On a terminal it then asks what to do.",
    "--approve pays only after the acceptance was run here and proved the work, or with --waive and a reason, which is kept in your records.",
  ],
  examples: [["nutshell receive 3f2a --file done.nut --approve --yes", "verify by running the tests here, then pay"]],
  async run(input, context) {
    const { clawnet, id, file, identity, approve, reject, waive, yes, allowOrigin, allowInstall } = input;
    assertOneWay(input);
    const market = await connect(clawnet, context);
    const task = await resolveTask(market, id);
    const hash = await expectSubmitted(market, task, readNamed(resolve(context.cwd, file)));
    const request = input.request ?? lastMarketRow(context.env, "published", (row) => row.task === task.id)?.kept;
    const again = (wanted: Readonly<Record<string, string | boolean | undefined>>) =>
      retyped(["receive", shellWord(id)], {
        file,
        request: input.request,
        identity,
        ...wanted,
        "allow-origin": allowOrigin,
        "allow-install": allowInstall,
        clawnet,
      });
    if (approve && request === undefined && waive === undefined) {
      throw new NutError("USAGE", "--approve runs the acceptance here, which needs the request as published", {
        hint: again({ request: "task.nut", approve }),
      });
    }
    const rerun = await isRerun({ ...input, request }, context);
    const question = { file, identity, request, rerun, yes, allowOrigin, allowInstall };
    const verification = await verifyForMarket(question, context);
    const { verified } = verification;
    const why = verified ? [] : whyNot(verification);
    if (approve && !verified && waive === undefined) {
      const looked = retyped(["verify", shellWord(file)], {
        request,
        identity,
        rerun: true,
        "allow-origin": allowOrigin,
        "allow-install": allowInstall,
      });
      throw new NutError("MARKET_UNPROVEN", `not paid: ${why.slice(0, 3).join("; ")}`, {
        hint: `look at it: ${looked}   pay all the same, on record: ${again({ approve, waive: "why" })}`,
        data: { why, verification },
      });
    }
    const answer = { task_id: task.id, hash, verified, why, verification };
    const wanted = approve
      ? "approve"
      : reject
        ? "reject"
        : await ask({ verified, why, reward: task.reward }, context.ask);
    if (wanted === null) {
      const paying = verified ? market.line(`approve ${task.id}`) : again({ approve: true });
      const next = `${paying}   or: ${market.line(`reject ${task.id}`)}`;
      return { ...answer, settled: null, paid: 0, waived: null, next };
    }
    const waived =
      wanted === "approve" && !verified
        ? (waive ?? (await askWhy(context, again({ approve: true, waive: "why" }))))
        : null;
    const keep = () => keepRecord({ task: task.id, delivery: hash, reason: waived ?? undefined }, context);
    const { paid } = await settleTask(market, task, wanted, context, {
      yes: yes || (!approve && !reject),
      command: again({ approve, waive, reject, rerun: input.rerun }),
      ...(wanted === "approve" ? { agreed: keep } : {}),
    });
    return {
      ...answer,
      settled: wanted === "approve" ? ("approved" as const) : ("rejected" as const),
      paid,
      waived,
      next: null,
    };
  },
  text: ({ hash, verified, why, settled, paid, waived, next }) => [
    `${green("✓")} this is the delivery that was submitted: ${hash}`,
    verified ? `${green("✓")} it proves what it claims` : `${red("✗")} it does not prove what it claims`,
    ...why.map((reason) => dim(`  ${reason}`)),
    ...(waived === null ? [] : [`${yellow("waived")}: ${waived}`]),
    settled === null ? `next: ${next}` : `${settled}${paid > 0 ? `, ${paid} shells paid` : ""}`,
  ],
  exit: ({ verified, waived }) => (verified || waived !== null ? 0 : 1),
});

function assertOneWay({ approve, reject, waive }: { approve: boolean; reject: boolean; waive?: string | undefined }) {
  const usage = (message: string) => new NutError("USAGE", message, { hint: "nutshell receive --help" });
  if (approve && reject) throw usage("--approve and --reject exclude each other");
  if (waive === undefined) return;
  if (!approve) throw usage("--waive goes with --approve");
  if (waive.trim() === "") throw usage("--waive needs a reason: it goes on record");
}

interface RerunQuestion {
  readonly rerun: boolean;
  readonly approve: boolean;
  readonly reject: boolean;
  readonly waive?: string | undefined;
  readonly request: string | undefined;
}

/** Whoever may pay runs it first, unless they waive it. A person is asked. */
async function isRerun({ rerun, approve, reject, waive, request }: RerunQuestion, { ask }: Context): Promise<boolean> {
  if (rerun || approve) return waive === undefined || rerun;
  if (ask === null || reject || request === undefined) return false;
  return ask.confirm("run the acceptance here before anything is decided?", { initial: true });
}

/** What keeps a delivery from being verified, the gravest first. */
function whyNot({ findings, gaps, status, rerun }: Verification): string[] {
  const errors = findings.filter(({ severity }) => severity === "error").map(({ message }) => message);
  const open = status !== null && status !== "completed" ? [`the delivery says it is ${status}`] : [];
  const unrun = rerun === null ? ["its acceptance was not run here"] : [];
  const all = [...new Set([...errors, ...open, ...unrun, ...gaps])];
  return all.length === 0 ? ["it is not completed work that is proven here"] : all;
}

async function askWhy({ ask }: Context, again: string): Promise<string> {
  const reason = (await ask?.text("why is it paid without proof? this goes on record")) ?? "";
  if (reason.trim() !== "") return reason.trim();
  throw new NutError("MARKET_NOT_READY", "no reason was given; nothing was paid", { hint: again });
}

/** Before the money goes: what was proven here, or why it is paid without proof. */
function keepRecord(row: Omit<MarketRow, "kind">, context: Context): void {
  const problem = recordMarket({ kind: row.reason === undefined ? "proven" : "waived", ...row }, context);
  if (problem === null || row.reason === undefined) return;
  throw new NutError("FILE_UNWRITABLE", `the waiver could not be recorded (${problem}); nothing was paid`, {
    hint: "set HOME (or XDG_STATE_HOME) to a folder of yours that can be written to",
  });
}

/** The daemon never gives the author the delivery, so its hash in the result is what ties the file to the task. */
async function expectSubmitted(market: Market, task: MarketTask, bytes: Buffer): Promise<string> {
  const results = [task.result, ...(await market.submissions(task.id)).map(({ result }) => result)];
  const hashes = results.flatMap((result) => [...result.matchAll(/sha256:([0-9a-f]{64})/gi)].map(([, hex]) => hex!));
  if (hashes.length === 0) {
    throw new NutError("MARKET_STATE", `task ${task.id} (${task.status}) names no delivery`, {
      hint: market.line(`tasks show ${task.id}`),
    });
  }
  if (hashes.some((hash) => sameHash(hash, bytes))) return hashOf(bytes);
  throw new NutError("MARKET_HASH_MISMATCH", "this file is not the delivery that was submitted", {
    hint: "ask the worker for the file again",
    data: { submitted: hashes.map((hash) => `sha256:${hash}`), file: hashOf(bytes) },
  });
}

function readNamed(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
}

interface Decision {
  readonly verified: boolean;
  readonly why: readonly string[];
  readonly reward: number;
}

/** Whoever pays knows how much, and what is not proven. */
async function ask(
  { verified, why, reward }: Decision,
  prompter: { confirm(question: string): Promise<boolean> } | null,
): Promise<"approve" | "reject" | null> {
  if (prompter === null) return null;
  const pay = verified
    ? `the delivery holds; approve and pay ${reward} shells?`
    : [...why.slice(0, 5), `it is not proven; approve and pay ${reward} shells all the same, on record?`].join("\n");
  if (await prompter.confirm(pay)) return "approve";
  return (await prompter.confirm("reject it? the worker gets no second try")) ? "reject" : null;
}
