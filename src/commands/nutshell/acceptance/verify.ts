// A stranger's look at a delivery: is it whole, does it answer that request, and what of its claims is more than words.
import { join, resolve } from "node:path";
import { z } from "zod";
import {
  cleanTreeOf,
  type HiddenReport,
  judgeDelivery,
  planChecks,
  readConstraints,
  rebuildTree,
  violations,
  withDeliveredEvidence,
} from "../../../acceptance/index.js";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { holdLessFor } from "../../../cli/hold-less.js";
import { bold, dim, green, red, yellow } from "../../../cli/text.js";
import { type Finding, NutError, shellWord } from "../../../errors.js";
import type { Context } from "../../../operation.js";
import { deliveredPaths, readDelivery } from "../../../request/apply/delivered.js";
import { patchFindings } from "../../../request/apply/delivery-patch.js";
import { findBase } from "../../../request/apply/repository-base.js";
import { inPlaceFindings } from "../../../request/finish/in-place.js";
import { hiddenUnrun } from "../../../request/hidden/hidden.js";
import { ReportShape, toShape } from "../../../request/judge/acceptance-shapes.js";
import { type OpenedFolder, openFolder, withWorkFolder } from "../../../request/open/work-folder.js";
import { type Delivery, DeliveryStatus, EVIDENCE } from "../../../schema/delivery.js";
import { FindingShape } from "../../../schema/finding.js";
import { identityWords } from "../flags.js";
import { acceptHere } from "./accept-here.js";
import { ACCEPTANCE_FLAGS } from "./acceptance-flags.js";
import { MARKS, reportLines } from "./acceptance-text.js";
import { verifyRequest } from "./verify-request.js";
import {
  SIGNATURE_FLAGS,
  SIGNED,
  signatureLines,
  signedVerdict,
  verdictSigner,
  whoVouches,
} from "./verify-signatures.js";
import { archiveFindings, isFile, linkFindings, requestId } from "./verify-whole.js";

const ALLOWANCES = ["recorded", "partial"] as const;

const Status = z.enum(["passed", "failed", "skipped", "unknown"]);

const Verification = z.object({
  verified: z
    .boolean()
    .describe(
      "whole, linked, completed and proven here, or what --allow says is enough; of a request: whole, and somebody you trust asks for it",
    ),
  kind: z.enum(["request", "delivery"]).nullable().describe("null when it cannot be read"),
  id: z.string().optional(),
  request_id: z.string().optional(),
  allowed: z.array(z.enum(ALLOWANCES)).describe("what was needed of --allow to say yes"),
  status: DeliveryStatus.nullable().describe("null when it cannot be read, and of a request"),
  backed: z.boolean().describe("whether completed would be true"),
  gaps: z.array(z.string()).describe("what keeps it from being backed"),
  claims: z.array(
    z.object({
      kind: z.enum(["criterion", "checklist", "hidden"]),
      id: z.string(),
      status: Status,
      evidence: z.enum(EVIDENCE),
      proves_nothing: z.boolean(),
      note: z.string().optional(),
      rerun: Status.optional(),
      unasked: z.boolean().optional().describe("true: the request asks nothing of that name, so it answers nothing"),
    }),
  ),
  findings: z.array(FindingShape),
  hidden: z
    .object({ count: z.int(), digest: z.string(), run: z.boolean() })
    .nullable()
    .describe("checks sealed for whoever verifies; null when the request has none or is not at hand"),
  base: z
    .object({ path: z.string(), commit: z.string() })
    .nullable()
    .describe("the repository and commit the work began with, when the delivery names one that is here"),
  rerun: ReportShape.nullable(),
  next: z.string().nullable().describe("what records a person's judgement, where one is missing"),
  ...SIGNED,
});
export type Verification = z.output<typeof Verification>;

const Question = z.object({
  delivery: positional(z.string(), { about: "a delivery, or a signed request: a .nut file or a folder" }),
  request: flag(z.string().optional(), { short: "r", value: "<request>", about: "the request it answers" }),
  rerun: flag(z.boolean().default(false), { about: "run the acceptance again, in a clean folder" }),
  allow: flag(z.array(z.enum(ALLOWANCES)).default([]), {
    value: "<what>",
    about: "say yes to less than proven and completed",
  }),
  ...ACCEPTANCE_FLAGS,
  ...SIGNATURE_FLAGS,
});
type Question = z.output<typeof Question>;

const BACKING = {
  proven: green("proven"),
  judged: yellow("judged"),
  recorded: yellow("recorded"),
  said: red("said"),
} as const;

export default command({
  name: "verify",
  summary: "check a delivery and what backs its claims",
  input: Question,
  output: Verification,
  about: [
    "Checks every hash, that the delivery answers that request and keeps its constraints, and what backs each claim: proven (run here, with --rerun), judged (someone looked and says why), recorded (the delivery says it was run) or only said.",
    "Answers yes (0) only for completed work that is proven. --allow recorded believes the delivery's own record; --allow partial takes partial work whose claims hold.",
    "Always says who signed, with which key, what they vouch for and whether you trust them. Of a signed request that is all there is to say: yes (0) when somebody you trust asks for it.",
  ],
  examples: [
    ["nutshell verify delivery.nut -r task.nut --rerun", "run the acceptance here, then believe"],
    ["nutshell verify delivery.nut -r task.nut --allow recorded", "hashes, links, claims; nothing is run"],
    ["nutshell verify delivery.nut -r task.nut --rerun --sign", "and vouch for what came out"],
    ["nutshell verify task.nut --require signer=alice@example.org", "is this request really hers?"],
  ],
  run: (input, context) => {
    holdLessFor(resolve(context.cwd, input.delivery));
    return withWorkFolder(context, (work) => verifyIn(work, input, context, verifyRequest));
  },
  text: ({ verified, kind, status, backed, allowed, gaps, claims, findings, hidden, base, rerun, next, ...signed }) => [
    ...signatureLines(signed),
    ...(base === null ? [] : [dim(`began with commit ${base.commit.slice(0, 12)} of ${base.path}`)]),
    ...findings.map(({ severity, message }) => `${severity === "error" ? red("✗") : yellow("⚠")} ${message}`),
    ...claims.map(
      ({ id, status: claimed, evidence, note, proves_nothing }) =>
        `${MARKS[claimed]} ${bold(id)}: ${claimed}, ${BACKING[evidence]}${proves_nothing ? yellow(" (guards, proves nothing)") : ""}${note === undefined ? "" : dim(` (${note})`)}`,
    ),
    ...(hidden === null || hidden.run ? [] : [`${yellow("?")} ${hidden.count} hidden, not run ${dim(hidden.digest)}`]),
    ...(rerun === null ? [] : ["", "run again:", ...reportLines(rerun)]),
    ...(backed ? [] : gaps.map((gap) => dim(`  ${gap}`))),
    kind === "request" ? requestLine(verified, signed) : lastLine({ verified, status, backed, allowed, hidden, rerun }),
    ...(next === null ? [] : [`a person's judgement is missing; who finds that it holds: ${next}`]),
  ],
  exit: ({ verified }) => (verified ? 0 : 1),
});

/** One sentence that says what the answer rests on. */
function lastLine(
  answer: Pick<Verification, "verified" | "status" | "backed" | "allowed" | "hidden" | "rerun">,
): string {
  const { verified, status, backed, allowed, hidden, rerun } = answer;
  if (status === null) return `${red("not verified")}: it is damaged`;
  if (verified && allowed.length === 0) return `${green("verified")}: completed`;
  if (verified) return `${yellow("accepted")}: ${status}, ${allowed.join(" and ")} as you allowed`;
  if (status !== "completed") return `${red("not verified")}: ${status}`;
  if (backed) return `${red("not verified")}: completed is claimed, but the delivery does not match`;
  const why =
    rerun === null
      ? "recorded, not proven: run it here with --request and --rerun"
      : hidden?.run === false
        ? `claimed, but ${hidden.count} hidden, not run: name a key that opens them with --identity`
        : "claimed, but not backed";
  return `${red("not verified")}: completed is ${why}`;
}

function requestLine(verified: boolean, { signatures }: Pick<Verification, "signatures">): string {
  const people = new Set(signatures.flatMap(({ principals }) => principals));
  if (verified) return `${green("verified")}: ${[...people].join(", ")} asked for this request`;
  const why = people.size === 0 ? "nobody you trust asks for this request" : "what is said above speaks against it";
  return `${red("not verified")}: ${why}`;
}

/** Of a delivery and nothing else: whoever pays for work is not answered about a request. */
export function verifyDelivery(input: Question, context: Context): Promise<Verification> {
  return withWorkFolder(context, (work) => verifyIn(work, input, context, async () => null));
}

async function verifyIn(
  work: string,
  input: Question,
  context: Context,
  otherwise: typeof verifyRequest,
): Promise<Verification> {
  if (input.rerun && input.request === undefined) {
    throw new NutError("USAGE", "--rerun needs the request the delivery answers", {
      hint: `${withRequest(input)} --rerun`,
    });
  }
  const signer = await verdictSigner(input, context);
  const archive = await archiveFindings(resolve(context.cwd, input.delivery), input.identity, context);
  if (archive.some(({ severity }) => severity === "error")) return damaged(archive);
  const target = await openFolder(input.delivery, context, join(work, "delivery"), input.identity);
  if (target.manifest.bundle_type !== "delivery") {
    const answer = await otherwise(input, target, archive, context);
    if (answer !== null) return answer;
    throw new NutError("USAGE", `${input.delivery} is a ${target.manifest.bundle_type}, not a delivery`, {
      hint: `nutshell finish "<the folder that was worked in>" --request ${shellWord(input.request ?? input.delivery)} makes a delivery`,
    });
  }
  const delivery = readDelivery(target.dir, target.manifest, input.delivery);
  const request =
    input.request === undefined
      ? null
      : await openFolder(input.request, context, join(work, "request"), input.identity);
  const links = linkFindings(target, delivery, request, withRequest(input));
  const second = request === null ? null : await secondLook({ input, context, work, target, delivery, request });
  const judgement = judgeDelivery({
    delivery: second?.delivery ?? delivery,
    has: (path) => isFile(target.dir, path),
    request:
      second === null ? null : { checks: second.checks, checklist: request?.manifest.acceptance?.checklist ?? [] },
    digests: second?.digests ?? null,
    rerun: second?.accepted?.report ?? null,
    hidden: second?.hidden ?? null,
  });
  const isProven = input.rerun && judgement.backed;
  const who = await whoVouches(
    { input, target, delivery, request: second?.digests.request ?? null, isProven },
    context,
  );
  const findings = [...archive, ...links, ...(second?.findings ?? []), ...judgement.findings, ...who.findings];
  const whole = !findings.some(({ severity }) => severity === "error");
  const backed = judgement.backed && whole;
  const allowed = allowedBy([...input.allow, ...who.allow], { delivery, judgement, whole, backed });
  return {
    verified: whole && ((delivery.status === "completed" && backed) || allowed.length > 0),
    kind: "delivery",
    allowed,
    id: target.manifest.id,
    ...(requestId(target, delivery) === undefined ? {} : { request_id: requestId(target, delivery) }),
    status: delivery.status,
    backed,
    gaps: [...judgement.gaps],
    claims: judgement.claims.map(({ provesNothing, ...claim }) => ({ ...claim, proves_nothing: provesNothing })),
    findings,
    hidden: hiddenWords(second?.hidden ?? null),
    base: second?.base ?? null,
    next: whole && judgement.unjudged.length > 0 ? judgeCommand(input) : null,
    rerun: second?.accepted == null ? null : toShape(second.accepted, second.credentialsUsed),
    signatures: who.signatures,
    believed: allowed.includes("recorded") && !input.allow.includes("recorded") ? who.believed : null,
    verdict: await signedVerdict({ input, target, second, backed: judgement.backed, findings, signer }, context),
  };
}

const judgeCommand = ({ delivery, request, identity }: Question): string =>
  `nutshell judge ${shellWord(delivery)} --request ${shellWord(request!)}${identityWords(identity)} --all --status passed --by "your name" --why "what you looked at"`;

/** A bundle is unpacked first; a folder is finished where it lies. */
function finishCommand({ delivery, request, identity }: Question, isFolder: boolean): string {
  const keys = identityWords(identity);
  const [first, work] = isFolder
    ? ["", shellWord(delivery)]
    : [`nutshell unpack ${shellWord(delivery)}${keys} -o work && `, "work"];
  return `${first}nutshell finish ${work} --request ${shellWord(request!)}${keys}`;
}

type Allowed = (typeof ALLOWANCES)[number];

interface Weighing {
  readonly delivery: Delivery;
  readonly judgement: ReturnType<typeof judgeDelivery>;
  readonly whole: boolean;
  readonly backed: boolean;
}

/** What the person's own word makes good; empty when nothing of it was needed, or not enough of it was given. */
function allowedBy(allow: readonly Allowed[], { delivery, judgement, whole, backed }: Weighing): Allowed[] {
  if (!whole || (delivery.status === "completed" && backed)) return [];
  const has = (name: Allowed) => allow.includes(name);
  if (delivery.status === "completed") return has("recorded") && judgement.recorded ? ["recorded"] : [];
  if (delivery.status !== "partial" || !has("partial")) return [];
  const claimed = judgement.claims.filter(({ kind, status }) => kind === "criterion" && status === "passed");
  const rest = (...evidence: string[]) =>
    claimed.some((claim) => claim.evidence === evidence[0]) &&
    claimed.every((claim) => claim.evidence === "judged" || evidence.includes(claim.evidence));
  if (rest("proven")) return ["partial"];
  return has("recorded") && rest("recorded", "proven") ? ["recorded", "partial"] : [];
}

function damaged(findings: Finding[]): Verification {
  return {
    verified: false,
    kind: null,
    status: null,
    backed: false,
    allowed: [],
    gaps: ["the delivery is damaged"],
    claims: [],
    findings,
    hidden: null,
    base: null,
    rerun: null,
    next: null,
    signatures: [],
    believed: null,
    verdict: null,
  };
}

function hiddenWords(hidden: HiddenReport | null): Verification["hidden"] {
  return hidden === null ? null : { count: hidden.count, digest: hidden.digest, run: hidden.results !== null };
}

const withRequest = ({ delivery, identity }: Question): string =>
  `nutshell verify ${shellWord(delivery)}${identityWords(identity)} --request "<request.nut>"`;

interface SecondLook {
  readonly input: Question;
  readonly context: Context;
  readonly work: string;
  readonly target: OpenedFolder;
  readonly delivery: Delivery;
  readonly request: OpenedFolder;
}

/** Rebuilds the result from the request and what was delivered; with --rerun, runs the acceptance on it. */
async function secondLook({ input, context, work, target, delivery, request }: SecondLook) {
  const keys = identityWords(input.identity);
  const again = `nutshell verify ${shellWord(input.delivery)} --request ${shellWord(input.request!)}${keys}${input.rerun ? " --rerun" : ""}`;
  const found = await findBase(
    { delivery, request: request.dir, typed: input.base, scratch: join(work, "repository"), command: again },
    context,
  );
  const base = found.folder;
  const result = join(work, "result");
  rebuildTree(base, target.dir, deliveredPaths(delivery), result);
  const plan = planChecks(request.dir, request.manifest);
  const asked = {
    request,
    base,
    result,
    work,
    sources: [
      { typed: input.request!, opened: request },
      { typed: input.delivery, opened: target },
    ],
  };
  const { accepted, credentialsUsed } = input.rerun
    ? await acceptHere(asked, input, context)
    : { accepted: null, credentialsUsed: [] };
  const { changes, digests } = accepted?.report ?? cleanTreeOf({ base, request: request.dir, plan, result });
  const rules = readConstraints(request.manifest.harness?.constraints ?? []).rules;
  const broken = violations(changes, rules).filter(({ path }) => !plan.isOwnTest(path));
  return {
    checks: plan.checks,
    delivery: withDeliveredEvidence(delivery, base, result),
    accepted,
    hidden: accepted === null ? hiddenUnrun(request.dir, request.manifest) : accepted.hidden,
    base: found.repository,
    findings: [
      ...found.findings,
      ...inPlaceFindings({
        delivery: target.dir,
        request: request.dir,
        delivered: deliveredPaths(delivery),
        command: finishCommand(input, target.dir === resolve(context.cwd, input.delivery)),
      }),
      ...(await patchFindings(
        { delivery, dir: target.dir, base: found, result, scratch: join(work, "patch") },
        context,
      )),
      ...broken.map(
        ({ path, constraint }): Finding => ({
          code: "CONSTRAINT_BROKEN",
          severity: "error",
          path,
          message: `${path} was changed against the constraint "${constraint}"`,
        }),
      ),
    ],
    credentialsUsed,
    digests: { ...digests, request: await request.digest() },
    requestId: request.manifest.id,
  };
}
