// Who signed, as people and programs read it.
import { z } from "zod";
import type { Voucher } from "../../statements/index.js";

export const VoucherShape = z.object({
  standing: z
    .enum(["trusted", "unknown", "invalid"])
    .describe("by somebody you trust; by a key nobody told you about; or worth nothing"),
  says: z.enum(["request", "delivery", "verdict"]).nullable().describe("what was vouched for"),
  result: z.string().optional().describe("what a verdict came to: PASSED, WARNED, FAILED"),
  principals: z.array(z.string()).describe("who, by your allowed_signers"),
  key: z.string().nullable().describe("fingerprint"),
  signed_on: z.string().nullable().describe("when, as the signer says"),
  why: z.string().nullable().describe("why it is not trusted"),
});
export type VoucherRow = z.output<typeof VoucherShape>;

export function voucherRow({ standing, kind, principals, fingerprint, signedOn, why, statement }: Voucher): VoucherRow {
  const result =
    statement?.predicateType === "https://in-toto.io/attestation/test-result/v0.1"
      ? statement.predicate.result
      : undefined;
  return {
    standing,
    says: kind,
    ...(result === undefined ? {} : { result }),
    principals: [...principals],
    key: fingerprint,
    signed_on: signedOn,
    why,
  };
}

const SAYS = { request: "asks for this", delivery: "made this", verdict: "checked this" } as const;

/** `alice@example.org asks for this, signed 2026-…, key SHA256:…`, without its mark. */
export function voucherWords({ standing, says, result, principals, key, signed_on, why }: VoucherRow): string {
  if (says === null && standing === "unknown") return `a Sigstore bundle that was not looked at: ${why}`;
  const who = standing === "trusted" ? principals.join(", ") : "somebody";
  if (standing === "invalid") return `a signature counts for nothing: ${why}${key === null ? "" : ` (key ${key})`}`;
  const outcome = result === undefined ? "" : `: ${result.toLowerCase()}`;
  const trust = why === null ? "" : `; ${why}`;
  return `${who} ${SAYS[says!]}${outcome}, key ${key}, says ${signed_on}${trust}`;
}
