// Doing what a person asks for from the board: each thing is the command the page shows beside it.
import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { NutError } from "../../errors.js";
import { clearAway } from "../../files/index.js";
import type { Context } from "../../operation.js";
import { recordAllowed } from "../../request/records/consent-record.js";
import { findRun, RunReader, runFolder, runsFolder } from "../../run/index.js";
import { isRefusal, openProject } from "../../state/index.js";
import { planDecide } from "../../tools/plan-decide.js";
import { taskUpdate } from "../../tools/task-update.js";
import { type Acted, type Action, type Agreement, commandOf, PLAN_FILE, withInstall } from "./actions.js";
import { type Started, startProgram } from "./start-program.js";

const text = (most = 20_000) => z.string().trim().min(1).max(most);
const run = z.string().min(1).max(100);
const task = z.int().min(1);
const maybe = z.string().trim().max(20_000).default("");

export const BoardAction = z.discriminatedUnion("action", [
  z.object({ action: z.literal("decide"), issue: z.int(), decision: text() }),
  z.object({ action: z.literal("reopen"), task: z.int() }),
  z.object({
    action: z.literal("start"),
    request: text(4_000),
    driver: maybe,
    budget: maybe,
    answer: maybe,
    reviewPlan: z.boolean().default(false),
    allowInstall: z.boolean().default(false),
  }),
  z.object({ action: z.enum(["pause", "cancel", "deliver"]), run }),
  z.object({ action: z.literal("resume"), run, budget: maybe }),
  z.object({ action: z.literal("answer"), run, task, text: text() }),
  z.object({ action: z.enum(["retry", "skip"]), run, task }),
  z.object({ action: z.literal("approve"), run, plan: z.string().max(200_000).default("") }),
  z.object({
    action: z.literal("judge"),
    run,
    item: z.string().min(1).max(4_000),
    status: z.enum(["passed", "failed"]),
    by: text(200),
    why: text(),
  }),
]) satisfies z.ZodType<Action>;

export interface Judging {
  readonly delivery: string;
  readonly request: string;
  readonly items: readonly string[];
  readonly status: "passed" | "failed";
  readonly by: string;
  readonly why: string;
}

export interface Acting {
  /** The project's folder, and a person who is Lead in it. */
  readonly context: Context;
  /** Of the person who started the board: a program runs as if they had typed it. */
  readonly env: Context["env"];
  /** What the person agreed to just now, as the question named it. */
  readonly agreed: Agreement | null;
  /** `nutshell judge`. */
  readonly judge: (judging: Judging, context: Context) => Promise<{ readonly delivery_status: string }>;
}

const START_MS = 20_000;
const STOP_MS = 70_000;

export async function act(action: Action, acting: Acting): Promise<Acted> {
  switch (action.action) {
    case "decide": {
      const result = await planDecide.run({ issue_id: action.issue, decision: action.decision }, acting.context);
      return done(unlessRefused(result, `issue ${action.issue} is decided`));
    }
    case "reopen": {
      const result = await taskUpdate.run({ id: action.task, status: "pending" }, acting.context);
      return done(unlessRefused(result, `task ${action.task} is open again`));
    }
    case "start":
      return start(action, acting);
    case "judge":
      return judge(action, acting);
    case "pause":
    case "cancel": {
      const started = await program(commandOf(action), acting, null, STOP_MS);
      if (started.refusal !== null) return refused(started);
      const word = action.action === "pause" ? "paused" : "cancelled";
      return done(started.exit === 0 ? `run ${action.run} is ${word}` : `run ${action.run} came to its end before`);
    }
    case "approve":
      return approve(action, acting);
    default:
      return goOn(action.run, commandOf(action), acting, GOING[action.action]);
  }
}

const GOING = {
  resume: "goes on",
  deliver: "delivers what is there",
  answer: "has its answer and goes on",
  retry: "tries it again",
  skip: "goes on without it",
};

async function start(action: Extract<Action, { action: "start" }>, acting: Acting): Promise<Acted> {
  const runs = runsHere(acting);
  const idIn = (printed: string) => /"type":"run_started","run":"([\w-]+)"/.exec(printed)?.[1];
  // It has begun when its journal has: what fails before that leaves nothing behind.
  const isAtWork = (printed: string) => {
    const id = idIn(printed);
    return id !== undefined && sizeOf(runFolder(runs, id, false).journal) > 0;
  };
  const started = await program(commandOf(action), acting, isAtWork, START_MS);
  if (started.refusal !== null) return refused(started);
  const id = idIn(started.printed);
  return id === undefined ? nothingSaid() : { done: true, message: `run ${id} is at work`, run: id };
}

/** Records that only a run that goes on writes. An old journal that is brought up to date grows without them. */
const GOES_ON = /"type":"(?:continued|answered|reviewed|switched|agent_started|accepted)"/g;

function stepsOf(journal: string): number {
  try {
    return readFileSync(journal, "utf8").match(GOES_ON)?.length ?? 0;
  } catch {
    return 0;
  }
}

/** It goes on once its journal says so. */
async function goOn(wanted: string, command: readonly string[], acting: Acting, words: string): Promise<Acted> {
  const runs = runsHere(acting);
  const id = findRun(runs, wanted);
  const { journal } = runFolder(runs, id, false);
  const before = stepsOf(journal);
  const started = await program(command, acting, () => stepsOf(journal) > before, START_MS);
  if (started.refusal !== null) return refused(started);
  if (started.exit === undefined || started.exit === 0 || started.exit === 1) return done(`run ${id} ${words}`);
  return nothingSaid();
}

/** A plan that was changed is handed over as a file, which is read before the run begins. */
async function approve(action: Extract<Action, { action: "approve" }>, acting: Acting): Promise<Acted> {
  const folder = mkdtempSync(join(tmpdir(), "nut-board-plan-"));
  try {
    const file = join(folder, PLAN_FILE);
    writeFileSync(file, action.plan, { mode: 0o600 });
    const command = commandOf(action).map((word) => (word === `--plan=${PLAN_FILE}` ? `--plan=${file}` : word));
    return await goOn(action.run, command, acting, "follows the plan");
  } finally {
    clearAway(folder);
  }
}

async function judge(action: Extract<Action, { action: "judge" }>, acting: Acting): Promise<Acted> {
  const runs = runsHere(acting);
  const { options, state } = new RunReader(runs, findRun(runs, action.run)).read();
  if (options === null || state.delivered === null) {
    throw new NutError("TOOL_REFUSED", `run ${action.run} has delivered nothing to judge`, { hint: "nexus runs" });
  }
  const { item, status, by, why } = action;
  const judging = { delivery: state.delivered.path, request: options.request, items: [item], status, by, why };
  const { delivery_status: says } = await acting.judge(judging, { ...acting.context, env: acting.env });
  return done(
    `"${item}" ${status === "passed" ? "holds" : "does not hold"}, says ${by}; the delivery now says ${says}`,
  );
}

function program(
  command: readonly string[],
  acting: Acting,
  isAtWork: ((printed: string) => boolean) | null,
  patienceMs: number,
): Promise<Started> {
  const { context, env, agreed } = acting;
  remember(acting);
  const [, ...args] = withInstall(command, agreed);
  return startProgram({ args, root: context.cwd, env, isAtWork, patienceMs });
}

/** A yes in the page is kept as a yes in the terminal is: once per digest. */
function remember({ context, env, agreed }: Acting): void {
  for (const digest of (agreed?.agree ?? "").split(",").filter(Boolean)) {
    recordAllowed(digest.startsWith("run:") ? `agreed-${digest}` : digest, { ...context, env });
  }
}

const runsHere = ({ context }: Acting) => runsFolder(openProject(context.cwd, { env: context.env }).root);
const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
const done = (message: string): Acted => ({ done: true, message });

const nothingSaid = (): Acted => ({
  done: false,
  message: "it was started and said nothing: the terminal knows more",
  hint: "nexus runs",
  consent: null,
});

function refused({ refusal }: Started): Acted {
  const { code, message, hint, data } = refusal!;
  const question = typeof data.question === "string" ? data.question : "";
  const agree = typeof data.agree === "string" ? data.agree : "";
  const isAsked = code === "CONSENT_NEEDED" && question !== "" && agree !== "";
  const strangers = Array.isArray(data.strangers) ? (data.strangers as { installs?: unknown }[]) : [];
  const install = strangers.some(({ installs }) => Array.isArray(installs) && installs.length > 0);
  return { done: false, message, hint, consent: isAsked ? { question, agree, install } : null };
}

function unlessRefused(result: unknown, words: string): string {
  if (isRefusal(result)) throw new NutError("TOOL_REFUSED", result.error, { hint: "nexus status" });
  return words;
}
