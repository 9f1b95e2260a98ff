// `nutshell verify` of a request: there is no work to prove, only who asks for it.
import { resolve } from "node:path";
import type { Finding } from "../../../errors.js";
import type { Context } from "../../../operation.js";
import type { OpenedFolder } from "../../../request/open/work-folder.js";
import { contradicts } from "../../../request/signatures/signatures.js";
import { voucherRow } from "../../../request/signatures/voucher-text.js";
import { whoSigned } from "../../../request/signatures/who-signed.js";
import type { Verification } from "./verify.js";

interface Asked {
  readonly delivery: string;
  readonly request?: string | undefined;
  readonly rerun: boolean;
  readonly allow: readonly string[];
  readonly sign: boolean;
  readonly require: readonly string[];
  readonly policy?: string | undefined;
  readonly at?: string | undefined;
  readonly sigstoreRoot?: string | undefined;
}

/**
 * Yes when it is whole, somebody you trust asks for it and every demand is met. null where there is nothing to say of it: it is
 * no request, nobody signed it and no one has to, or what was asked makes sense of a delivery alone.
 */
export async function verifyRequest(
  input: Asked,
  target: OpenedFolder,
  archive: readonly Finding[],
  context: Context,
): Promise<Verification | null> {
  const { manifest } = target;
  const wantsDelivery = input.request !== undefined || input.rerun || input.sign || input.allow.length > 0;
  if (manifest.bundle_type !== "request" || wantsDelivery) return null;
  const path = resolve(context.cwd, input.delivery);
  const question = {
    ...input,
    path,
    manifest,
    digest: await target.digest(),
    delivery: null,
    request: null,
    isProven: false,
  };
  const { vouchers, findings: demands } = await whoSigned(question, context);
  if (vouchers.length === 0 && demands.length === 0) return null;
  const findings = [...archive, ...demands];
  const isAsked = vouchers.some((one) => one.standing === "trusted" && !contradicts(manifest, one));
  return {
    verified: isAsked && !findings.some(({ severity }) => severity === "error"),
    kind: "request",
    id: manifest.id,
    status: null,
    backed: false,
    allowed: [],
    gaps: isAsked ? [] : ["nobody you trust asks for it"],
    claims: [],
    findings,
    hidden: null,
    base: null,
    rerun: null,
    next: null,
    signatures: vouchers.map(voucherRow),
    believed: null,
    verdict: null,
  };
}
