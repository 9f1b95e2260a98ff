import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import {
  manifestFile,
  openBundle,
  readManifest,
  unpackBundle,
  withNotedRows,
  writeManifest,
} from "../../../bundle/index.js";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { holdLess } from "../../../cli/hold-less.js";
import { bold, dim } from "../../../cli/text.js";
import { NutError, shellWord } from "../../../errors.js";
import { replaceFiles } from "../../../files/index.js";
import type { Context } from "../../../operation.js";
import { readDelivery } from "../../../request/apply/delivered.js";
import { chosen, questionsOf, withJudgement } from "../../../request/judge/judgement.js";
import { openFolder, withWorkFolder } from "../../../request/open/work-folder.js";
import { packBundle } from "../../../request/pack/pack-bundle.js";
import { isSealedFile } from "../../../request/pack/sealed.js";
import { recordUnpacked } from "../../../request/records/consent-record.js";
import { type Delivery, DeliveryStatus, RESULT_FILE } from "../../../schema/delivery.js";
import { identityWords, SEALED_IDENTITY } from "../flags.js";
import { MARKS } from "./acceptance-text.js";

const JudgeInput = z.object({
  delivery: positional(z.string(), { about: "a delivery: a .nut file or a folder; it is changed in place" }),
  request: flag(z.string().optional(), { short: "r", value: "<request>", about: "the request it answers" }),
  items: flag(z.array(z.string()).default([]), {
    name: "item",
    value: "<text>",
    about: "a point of the checklist, or the id of a criterion for a person",
  }),
  all: flag(z.boolean().default(false), { about: "everything that nobody judged by name yet" }),
  status: flag(z.enum(["passed", "failed"]), { value: "<status>", about: "what you say" }),
  by: flag(z.string().trim().min(1), { value: "<name>", about: "who says so" }),
  ...SEALED_IDENTITY,
  why: flag(z.string().trim().min(1), { value: "<text>", about: "what you looked at, and why" }),
});
type JudgeInput = z.output<typeof JudgeInput>;

const Judged = z.object({
  delivery: z.string(),
  judged: z.array(z.string()),
  status: z.enum(["passed", "failed"]),
  by: z.string(),
  at: z.string(),
  delivery_status: DeliveryStatus.describe("what the delivery says now"),
});

export default command({
  name: "judge",
  summary: "record a person's judgement in a delivery",
  input: JudgeInput,
  output: Judged,
  about: [
    "For what no program can decide: points of the checklist, and criteria with auto_verifiable: false. Who, when and why are recorded, and `verify` shows them as judged by that name; a name is a word anyone can write, so it is never called proven. What is run cannot be judged.",
    "The delivery's status follows: completed when everything is answered with passed, partial when something is not. `verify --rerun` still has to prove the rest.",
  ],
  examples: [
    ['nutshell judge done.nut --item "polite" --status passed --by Ada --why "read"', "one point"],
    ['nutshell judge done.nut --all --status failed --by Ada --why "no sketch"', "all"],
  ],
  run: (input, context) => {
    holdLess();
    return withWorkFolder(context, (work) => judge(work, input, context));
  },
  text: ({ judged, status, by, delivery_status }) => [
    ...judged.map((item) => `${MARKS[status]} ${bold(item)} ${dim(`(${status}, ${by})`)}`),
    `the delivery now says: ${delivery_status}`,
  ],
});

async function judge(work: string, input: JudgeInput, context: Context): Promise<z.output<typeof Judged>> {
  const { items, all, status, by, why } = input;
  if (all === items.length > 0) {
    throw new NutError("USAGE", "say what is judged: --item <text>, or --all", { hint: "nutshell judge --help" });
  }
  const path = resolve(context.cwd, input.delivery);
  const isBundle = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  if (isBundle && isSealedFile(path)) throw sealed(input);
  const dir = isBundle ? await unpackHere(path, join(work, "delivery"), context) : path;
  const target = less(await openFolder(dir, context, dir));
  if (target.manifest.bundle_type !== "delivery") {
    throw new NutError("USAGE", `${input.delivery} is a ${target.manifest.bundle_type}, not a delivery`, {
      hint: `nutshell check ${shellWord(input.delivery)}`,
    });
  }
  const request =
    input.request === undefined
      ? null
      : less(await openFolder(input.request, context, join(work, "request"), input.identity));
  const delivery = readDelivery(dir, target.manifest, input.delivery);
  assertAnswers(delivery.request_id ?? target.manifest.request_id, request?.manifest.id);
  const questions = questionsOf(delivery, target, request);
  const names = chosen(delivery, questions, items, all);
  if (names.length === 0) {
    throw new NutError("USAGE", "nothing is left for a person to judge", {
      hint: `nutshell verify ${shellWord(input.delivery)}`,
    });
  }
  const at = context.now().toISOString();
  const judged = withJudgement(delivery, questions, names, { status, by, why, at });
  writeDelivery(dir, judged);
  if (isBundle) await packAgain(path, dir, context);
  return { delivery: path, judged: names, status, by, at, delivery_status: judged.status };
}

/** What of a large one is held while everything else is done. */
const less = (opened: Awaited<ReturnType<typeof openFolder>>) => ({
  ...opened,
  manifest: withNotedRows(opened.manifest),
});

/** It would have to be sealed again, and for whom is the person's to say. */
function sealed({ delivery, identity }: JudgeInput): NutError {
  const keys = identity.length === 0 ? " --identity <identity.key>" : identityWords(identity);
  return new NutError("BUNDLE_SEALED", `${delivery} is sealed, so it is not changed in place`, {
    hint: `nutshell unpack ${shellWord(delivery)}${keys} -o judged, judge that folder, and pack it again`,
  });
}

function assertAnswers(named: string | undefined, request: string | undefined): void {
  if (request === undefined || named === undefined || named === request) return;
  throw new NutError("USAGE", `the delivery answers ${named}, not ${request}`, {
    hint: "name the request it answers: --request '<request>'",
  });
}

/** It stays a stranger's: what was judged is not thereby agreed to be run. */
async function unpackHere(path: string, target: string, context: Context): Promise<string> {
  const { dir, contentDigest } = await unpackBundle(path, target, { signal: context.signal, trustAll: true });
  recordUnpacked(dir, contentDigest, context);
  return dir;
}

/** The result where it stands, and the manifest's mirror of it. */
function writeDelivery(dir: string, delivery: Delivery): void {
  const manifest = readManifest(dir);
  if (!existsSync(join(dir, RESULT_FILE))) {
    const { status, completion_percentage: percentage, acceptance_results } = delivery;
    const done = percentage === undefined ? {} : { completion_percentage: percentage };
    writeManifest(dir, { ...manifest, status, ...done, acceptance_results });
    return;
  }
  const mirror = {
    ...(manifest.status === undefined ? {} : { status: delivery.status }),
    ...(manifest.completion_percentage === undefined
      ? {}
      : { completion_percentage: delivery.completion_percentage ?? manifest.completion_percentage }),
    ...(manifest.acceptance_results === undefined ? {} : { acceptance_results: delivery.acceptance_results }),
  };
  replaceFiles([
    { path: join(dir, RESULT_FILE), data: `${JSON.stringify(delivery, null, 2)}\n` },
    manifestFile(dir, { ...manifest, ...mirror }),
  ]);
}

async function packAgain(path: string, dir: string, context: Context): Promise<void> {
  const bundle = await openBundle(path, { signal: context.signal, lenient: true });
  const { compression } = bundle;
  await bundle.close();
  const guard = readManifest(dir).extensions?.leak_guard as { allowed?: readonly string[] } | undefined;
  const request = { dir, output: path, compression, level: "default" as const, force: true };
  await packBundle({ ...request, allow: guard?.allowed }, context);
}
