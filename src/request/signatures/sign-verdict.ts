// A verdict: what whoever verifies ran here, and what came out, signed and added to the delivery.
import type { Finding } from "../../errors.js";
import type { Context } from "../../operation.js";
import { type BundleName, signStatement, verdictStatement } from "../../statements/index.js";
import type { Accepted } from "../hidden/hidden.js";
import { addSignatures } from "./signatures.js";
import type { SigningKey } from "./signing-key.js";

export interface VerdictQuestion {
  readonly path: string;
  readonly bundle: BundleName;
  readonly request: BundleName;
  readonly accepted: Accepted;
  /** Completed, and everything in it proven by this rerun. */
  readonly isProven: boolean;
  readonly findings: readonly Finding[];
  readonly signer: SigningKey;
}

/** Where the signed verdict now lies. */
export async function signVerdict(question: VerdictQuestion, context: Context): Promise<string> {
  const { path, bundle, request, accepted, signer } = question;
  const { counts, results, digests, compared, sandboxed, trials } = accepted.report;
  const { hidden } = accepted;
  const ids = (status: string) => results.filter((row) => row.status === status).map(({ id }) => id);
  const statement = verdictStatement({
    bundle,
    request,
    at: context.now(),
    platform: `${process.platform}-${process.arch}`,
    result: resultOf(question),
    passed: ids("passed"),
    failed: ids("failed"),
    acceptance: { sandboxed, trials, compared, passed: counts.passed, failed: counts.failed, proven: counts.proven },
    hidden: hidden === null ? null : { count: hidden.count, run: hidden.results !== null },
    digests,
  });
  return addSignatures(
    path,
    { envelopes: [await signStatement(statement, signer.sign)], sigstore: [] },
    { sidecar: false },
    context,
  );
}

/** What this verifier asks of signatures, or what others found, is not what this rerun came to. */
const OWN: ReadonlySet<string> = new Set(["POLICY_REFUSED", "SIGNER_REQUIRED", "VERDICT_FAILED"]);

function resultOf({ isProven, accepted, findings }: VerdictQuestion): "PASSED" | "WARNED" | "FAILED" {
  const wrong = findings.some(({ severity, code }) => severity === "error" && !OWN.has(code));
  if (isProven && !wrong) return "PASSED";
  return wrong || accepted.report.verdict === "failed" ? "FAILED" : "WARNED";
}
