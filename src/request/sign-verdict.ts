// A verdict: what whoever verifies ran here, and what came out, signed and added to the delivery.
import type { z } from "zod";
import type { Finding } from "../errors.js";
import type { Context } from "../operation.js";
import { type Named, signStatement, verdictStatement } from "../statements/index.js";
import type { ReportShape } from "./acceptance-shapes.js";
import { addSignatures } from "./signatures.js";
import type { SigningKey } from "./signing-key.js";

/** How often each check runs unless the person says otherwise; --quick runs once. */
const DEFAULT_TRIALS = 3;

export interface VerdictQuestion {
  readonly path: string;
  readonly bundle: Named;
  readonly request: Named;
  readonly answer: {
    readonly verified: boolean;
    readonly allowed: readonly string[];
    readonly findings: readonly Finding[];
    readonly hidden: { readonly count: number; readonly run: boolean } | null;
    readonly rerun: z.infer<typeof ReportShape> | null;
  };
  readonly signer: SigningKey;
  readonly trials: { readonly trials?: number | undefined; readonly quick: boolean };
}

/** Where the signed verdict now lies. */
export async function signVerdict(question: VerdictQuestion, context: Context): Promise<string> {
  const { path, bundle, request, answer, signer, trials } = question;
  const { counts, results, digests, compared, sandboxed } = answer.rerun!;
  const ids = (status: string) => results.filter((row) => row.status === status).map(({ id }) => id);
  const statement = verdictStatement({
    bundle,
    request,
    at: context.now(),
    platform: `${process.platform}-${process.arch}`,
    result: resultOf(answer),
    passed: ids("passed"),
    failed: ids("failed"),
    acceptance: {
      sandboxed,
      trials: trials.quick ? 1 : (trials.trials ?? DEFAULT_TRIALS),
      compared,
      passed: counts.passed,
      failed: counts.failed,
      proven: counts.proven,
    },
    hidden: answer.hidden === null ? null : { count: answer.hidden.count, run: answer.hidden.run },
    digests,
  });
  return addSignatures(path, [await signStatement(statement, signer.sign)], { sidecar: false });
}

/** PASSED only where nothing had to be allowed: what others are told is what was proven here. */
function resultOf({ verified, allowed, findings, rerun }: VerdictQuestion["answer"]): "PASSED" | "WARNED" | "FAILED" {
  if (verified && allowed.length === 0) return "PASSED";
  const against = rerun!.verdict === "failed" || findings.some(({ severity, code }) => severity === "error" && !OWN.has(code));
  return against ? "FAILED" : "WARNED";
}

/** What this verifier asks of signatures is not the delivery's fault. */
const OWN: ReadonlySet<string> = new Set(["POLICY_REFUSED", "SIGNER_REQUIRED"]);
