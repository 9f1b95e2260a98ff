// A stranger's look at a delivery: is it whole, does it answer that request, and what of its claims is more than words.
import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import {
  type AcceptanceReport,
  buildCleanTree,
  judgeDelivery,
  planChecks,
  rebuildTree,
  runAcceptance,
} from "../../../acceptance/index.js";
import { openBundle } from "../../../bundle/index.js";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { bold, dim, green, red, yellow } from "../../../cli/text.js";
import { type ErrorCode, type Finding, NutError, shellWord } from "../../../errors.js";
import type { Context } from "../../../operation.js";
import { acceptanceCredentials } from "../../../request/acceptance-credentials.js";
import { ReportShape, tell, toShape } from "../../../request/acceptance-shapes.js";
import { deliveredPaths, readDelivery } from "../../../request/delivered.js";
import { type OpenedFolder, openFolder, withWorkFolder } from "../../../request/work-folder.js";
import { type Delivery, DeliveryStatus, EVIDENCE } from "../../../schema/delivery.js";
import { FindingShape } from "../../../schema/finding.js";
import { ACCEPTANCE_FLAGS } from "./acceptance-flags.js";
import { MARKS, reportLines } from "./acceptance-text.js";

const Status = z.enum(["passed", "failed", "skipped", "unknown"]);

const Verification = z.object({
  verified: z.boolean().describe("whole, linked, and no more claimed than is backed"),
  id: z.string().optional(),
  request_id: z.string().optional(),
  status: DeliveryStatus.nullable().describe("null when it cannot be read"),
  backed: z.boolean().describe("whether completed would be true"),
  gaps: z.array(z.string()).describe("what keeps it from being backed"),
  claims: z.array(
    z.object({
      kind: z.enum(["criterion", "checklist"]),
      id: z.string(),
      status: Status,
      evidence: z.enum(EVIDENCE),
      proves_nothing: z.boolean(),
      note: z.string().optional(),
      rerun: Status.optional(),
    }),
  ),
  findings: z.array(FindingShape),
  rerun: ReportShape.nullable(),
});
export type Verification = z.output<typeof Verification>;

const Question = z.object({
  delivery: positional(z.string(), { about: "a delivery: a .nut file or a folder" }),
  request: flag(z.string().optional(), { short: "r", value: "<request>", about: "the request it answers" }),
  rerun: flag(z.boolean().default(false), { about: "run the acceptance again, in a clean folder" }),
  ...ACCEPTANCE_FLAGS,
});
type Question = z.output<typeof Question>;

const BACKING = { proven: green("proven"), judged: yellow("judged"), said: red("said") } as const;

export default command({
  name: "verify",
  summary: "check a delivery and what backs its claims",
  input: Question,
  output: Verification,
  about: [
    "Checks every hash, that the delivery answers that request, and what backs each claim: proven (the acceptance ran), judged (someone looked and says why) or only said.",
    "Answers no (1) when something is damaged or does not match, or when completed is claimed without being backed.",
  ],
  examples: [
    ["nutshell verify delivery.nut --request task.nut", "hashes, links, claims"],
    ["nutshell verify delivery.nut -r task.nut --rerun", "and run the acceptance again"],
  ],
  run: verifyDelivery,
  text: ({ verified, status, backed, gaps, claims, findings, rerun }) => [
    ...findings.map(({ severity, message }) => `${severity === "error" ? red("✗") : yellow("⚠")} ${message}`),
    ...claims.map(
      ({ id, status: claimed, evidence, note, proves_nothing }) =>
        `${MARKS[claimed]} ${bold(id)}: ${claimed}, ${BACKING[evidence]}${proves_nothing ? yellow(" (proves nothing)") : ""}${note === undefined ? "" : dim(` (${note})`)}`,
    ),
    ...(rerun === null ? [] : ["", "run again:", ...reportLines(rerun)]),
    ...(status === "completed" && !backed ? gaps.map((gap) => dim(`  ${gap}`)) : []),
    `${verified ? green("verified") : red("not verified")}: ${status ?? "it is damaged"}${status === "completed" && !backed ? " is claimed, but not backed" : ""}`,
  ],
  exit: ({ verified }) => (verified ? 0 : 1),
});

export function verifyDelivery(input: Question, context: Context): Promise<Verification> {
  return withWorkFolder(context, (work) => verifyIn(work, input, context));
}

async function verifyIn(work: string, input: Question, context: Context): Promise<Verification> {
  if (input.rerun && input.request === undefined) {
    throw new NutError("USAGE", "--rerun needs the request the delivery answers", {
      hint: `nutshell verify ${shellWord(input.delivery)} --request request.nut --rerun`,
    });
  }
  const archive = await archiveFindings(resolve(context.cwd, input.delivery), context);
  if (archive.some(({ severity }) => severity === "error")) return damaged(archive);
  const target = await openFolder(input.delivery, context, join(work, "delivery"));
  if (target.manifest.bundle_type !== "delivery") {
    throw new NutError("USAGE", `${input.delivery} is a ${target.manifest.bundle_type}, not a delivery`, {
      hint: `nutshell validate ${shellWord(input.delivery)}`,
    });
  }
  const delivery = readDelivery(target.dir, target.manifest);
  const request = input.request === undefined ? null : await openFolder(input.request, context, join(work, "request"));
  const links = linkFindings(target, delivery, request);
  const second = request === null ? null : await secondLook({ input, context, work, target, delivery, request });
  const judgement = judgeDelivery({
    delivery,
    has: (path) => isFile(target.dir, path),
    request:
      second === null ? null : { checks: second.checks, checklist: request?.manifest.acceptance?.checklist ?? [] },
    digests: second?.digests ?? null,
    rerun: second?.report ?? null,
  });
  const findings = [...archive, ...links, ...judgement.findings];
  const whole = !findings.some(({ severity }) => severity === "error");
  const backed = judgement.backed && whole;
  return {
    verified: whole && (delivery.status !== "completed" || backed),
    id: target.manifest.id,
    ...(requestId(target, delivery) === undefined ? {} : { request_id: requestId(target, delivery) }),
    status: delivery.status,
    backed,
    gaps: [...judgement.gaps],
    claims: judgement.claims.map(({ provesNothing, ...claim }) => ({ ...claim, proves_nothing: provesNothing })),
    findings,
    rerun:
      second?.report === undefined || second.report === null ? null : toShape(second.report, second.credentialsUsed),
  };
}

const DAMAGE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "BUNDLE_BAD_MAGIC",
  "BUNDLE_CORRUPT",
  "BUNDLE_MISMATCH",
  "BUNDLE_UNSAFE_ENTRY",
  "BUNDLE_UNSAFE_PATH",
]);

/** Damage is an answer here, not a failure. */
async function archiveFindings(path: string, { signal }: Context): Promise<Finding[]> {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return [];
  try {
    const bundle = await openBundle(path, { signal, lenient: true });
    try {
      return [...(await bundle.verify())];
    } finally {
      await bundle.close();
    }
  } catch (error) {
    if (!(error instanceof NutError) || !DAMAGE.has(error.code)) throw error;
    return [{ code: error.code, severity: "error", path, message: error.message }];
  }
}

function damaged(findings: Finding[]): Verification {
  return {
    verified: false,
    status: null,
    backed: false,
    gaps: ["the delivery is damaged"],
    claims: [],
    findings,
    rerun: null,
  };
}

const requestId = ({ manifest }: OpenedFolder, delivery: Delivery): string | undefined =>
  delivery.request_id ?? manifest.request_id;

function linkFindings(target: OpenedFolder, delivery: Delivery, request: OpenedFolder | null): Finding[] {
  const findings: Finding[] = [];
  const error = (code: string, path: string, message: string) =>
    findings.push({ code, severity: "error", path, message });
  const named = requestId(target, delivery);
  if (named === undefined) error("REQUEST_UNNAMED", "request_id", "the delivery does not say which request it answers");
  for (const [key, said] of [
    ["request_id", target.manifest.request_id],
    ["status", target.manifest.status],
  ] as const) {
    if (said !== undefined && delivery[key] !== undefined && said !== delivery[key]) {
      error("MANIFEST_DISAGREES", key, `nutshell.json says ${said}, delivery/result.json says ${delivery[key]}`);
    }
  }
  if (request !== null) {
    const { id } = request.manifest;
    if (named !== undefined && named !== id) error("REQUEST_MISMATCH", "request_id", `it answers ${named}, not ${id}`);
    const parent = delivery.parent_id ?? target.manifest.parent_id;
    if (parent !== undefined && parent !== id)
      error("REQUEST_MISMATCH", "parent_id", `it follows from ${parent}, not ${id}`);
  } else {
    findings.push({
      code: "REQUEST_ABSENT",
      severity: "warning",
      path: "request_id",
      message: "without the request, links and digests cannot be compared",
      fix: "nutshell verify delivery.nut --request request.nut",
    });
  }
  const { created, modified } = deliveredPaths(delivery);
  for (const path of [...created, ...modified]) {
    if (!isFile(target.dir, path) && !isFile(target.dir, `delivery/artifacts/${path}`))
      error("ARTIFACT_MISSING", path, `${path} is listed, but not delivered`);
  }
  const log = delivery.execution_log?.full_log;
  if (log !== undefined && !isFile(target.dir, log))
    error("ARTIFACT_MISSING", log, `${log} is named as the full log, but not delivered`);
  return findings;
}

function isFile(dir: string, path: string): boolean {
  if (path.startsWith("/") || path.split("/").includes("..")) return false;
  return existsSync(join(dir, path)) && statSync(join(dir, path)).isFile();
}

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
  const base = input.base === undefined ? request.dir : resolve(context.cwd, input.base);
  const result = join(work, "result");
  rebuildTree(base, target.dir, deliveredPaths(delivery), result);
  const plan = planChecks(request.dir, request.manifest);
  let report: AcceptanceReport | null = null;
  const credentials = acceptanceCredentials(request.dir, input.identity, context);
  if (input.rerun) {
    report = await runAcceptance({
      request: request.dir,
      manifest: request.manifest,
      base,
      result,
      workDir: join(work, "rooms"),
      env: context.env,
      sandbox: input.noSandbox ? "off" : "auto",
      credentials: credentials.read,
      scrub: credentials.scrub,
      signal: context.signal,
      onProgress: tell(context),
    });
  }
  const trees =
    report?.digests ??
    buildCleanTree({ base, request: request.dir, plan, result, target: join(work, "clean") }).digests;
  return {
    checks: plan.checks,
    report,
    credentialsUsed: credentials.used(),
    digests: { ...trees, request: await request.digest() },
  };
}
