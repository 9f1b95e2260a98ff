// Who vouches for a delivery or a request, and what is still asked of it: by the person (--require), by policies.
import { type Finding, NutError } from "../../errors.js";
import type { Context } from "../../operation.js";
import type { Delivery } from "../../schema/delivery.js";
import type { Manifest } from "../../schema/manifest.js";
import type { Policy } from "../../schema/policy.js";
import {
  believedBy,
  deliveryRefusals,
  isNamed,
  refusedBy,
  requestRefusal,
  statedVerdict,
  type Voucher,
} from "../../statements/index.js";
import { contradicts, subjectOf, vouchersOf } from "./signatures.js";
import { readPolicies, readSigstoreRoot } from "./trust-files.js";

export interface WhoQuestion {
  /** The bundle or folder, resolved. */
  readonly path: string;
  readonly manifest: Manifest;
  readonly digest: string;
  /** null: it is a request. */
  readonly delivery: Delivery | null;
  /** Content digest of the request, when it is at hand. */
  readonly request: string | null;
  /** What it claims was proven here: then one's own eyes count for more than somebody's no. */
  readonly isProven: boolean;
  /** `signer=<principal>`, as typed. */
  readonly require: readonly string[];
  readonly policy?: string | undefined;
  /** A trusted_root.json; without one no Sigstore bundle is looked at. */
  readonly sigstoreRoot?: string | undefined;
  /** The time that counts, RFC 3339; now by default. */
  readonly at?: string | undefined;
}

export interface Who {
  readonly vouchers: readonly Voucher[];
  readonly findings: readonly Finding[];
  /** By whose word its own record counts as proven, as your policy says; null when by nobody's. */
  readonly believed: string | null;
}

export async function whoSigned(question: WhoQuestion, context: Context): Promise<Who> {
  const { path, manifest, digest, delivery, require, policy } = question;
  const at = question.at === undefined ? context.now() : new Date(question.at);
  const request = question.request ?? delivery?.digests?.request;
  const subject = subjectOf(manifest, digest, { request, result: delivery?.digests?.result });
  const policies = await readPolicies(policy, context);
  const named = [...requiredSigners(require), ...policies.own.flatMap(namesIn)];
  const sigstoreTrust =
    question.sigstoreRoot === undefined ? null : await readSigstoreRoot(question.sigstoreRoot, named, context);
  const vouchers = vouchersOf(path, subject, context, { at, sigstoreTrust });
  const refusals =
    delivery === null
      ? [requestRefusal(policies.demands, vouchers) ?? []].flat()
      : deliveryRefusals(policies.demands, vouchers);
  return {
    vouchers,
    findings: [
      ...requiredFindings(require, vouchers),
      ...refusals.map((message): Finding => ({ code: "POLICY_REFUSED", severity: "error", path: "policy", message })),
      ...publisherFindings(manifest, vouchers),
      ...refusedFindings(vouchers, question.isProven),
    ],
    believed: refusals.length > 0 ? null : believedBy(policies.own, vouchers),
  };
}

const namesIn = ({ requests, deliveries, verdicts }: Policy): string[] =>
  [requests?.signers, deliveries?.signers, deliveries?.believe, verdicts?.signers].flatMap((names) => names ?? []);

/** Throws USAGE for what is not understood: a demand that is passed over would be met by anybody. */
export function requiredSigners(require: readonly string[]): string[] {
  return require.map((typed) => {
    const name = /^signer=(.+)$/.exec(typed)?.[1];
    if (name !== undefined) return name;
    throw new NutError("USAGE", `--require ${typed}: only signer=<principal> can be required`, {
      hint: "nutshell verify delivery.nut --require signer=alice@example.org",
    });
  });
}

function requiredFindings(require: readonly string[], vouchers: readonly Voucher[]): Finding[] {
  // Who checked it and found that it does not hold vouches for nothing.
  const trusted = vouchers.filter((one) => one.standing === "trusted" && (statedVerdict(one) ?? "PASSED") === "PASSED");
  return requiredSigners(require)
    .filter((name) => !trusted.some((one) => isNamed(one, [name])))
    .map((name) => ({
      code: "SIGNER_REQUIRED",
      severity: "error",
      path: "signatures",
      message: `no trusted signature by ${name} is on it`,
      fix: "nutshell trust list shows whom you trust",
    }));
}

/** Somebody you trust says no. */
function refusedFindings(vouchers: readonly Voucher[], isProven: boolean): Finding[] {
  return refusedBy(vouchers).map((name) => ({
    code: "VERDICT_FAILED",
    severity: isProven ? "warning" : "error",
    path: "signatures",
    message: `${name} checked it and found that it does not hold`,
  }));
}

function publisherFindings(manifest: Manifest, vouchers: readonly Voucher[]): Finding[] {
  const other = vouchers.find(
    (one) => one.standing === "trusted" && one.kind !== "verdict" && contradicts(manifest, one),
  );
  if (other === undefined) return [];
  const message = `the manifest names ${manifest.publisher!.contact} as publisher, but ${other.principals.join(", ")} signed it`;
  return [{ code: "PUBLISHER_DISAGREES", severity: "warning", path: "publisher.contact", message }];
}
