// What a policy makes of who vouched. Pure. Several policies hold at once: every demand of each must be met.
import type { Policy } from "../schema/policy.js";
import type { StatementKind } from "../schema/statement.js";
import { matchesPattern } from "./allowed-signers.js";
import type { Voucher } from "./judge.js";
import { identityWords } from "./sigstore.js";

/** Whether one of those who are trusted is meant by one of these names. */
export const isNamed = ({ principals }: Pick<Voucher, "principals">, names: readonly string[]): boolean =>
  principals.some((principal) => names.some((name) => isMeant(principal, name)));

/** A name without an issuer never means an identity of Sigstore, and no pattern stands for an issuer. */
function isMeant(principal: string, name: string): boolean {
  const [own, meant] = [identityWords(principal), identityWords(name)];
  if (own === null || meant === null) return own === meant && matchesPattern(principal, name);
  return own.issuer === meant.issuer && matchesPattern(own.who, meant.who);
}

/** The person behind a principal, whichever way they signed. */
const personOf = (principal: string): string => identityWords(principal)?.who ?? principal;

const trustedFor = (vouchers: readonly Voucher[], kind: StatementKind) =>
  vouchers.filter((one) => one.standing === "trusted" && one.kind === kind);

/** Why a request may not be run; null when it may. */
export function requestRefusal(policies: readonly Policy[], vouchers: readonly Voucher[]): string | null {
  for (const { requests } of policies) {
    if (requests === undefined || trustedFor(vouchers, "request").some((one) => isNamed(one, requests.signers)))
      continue;
    return `only requests signed by ${requests.signers.join(" or ")} may be run here`;
  }
  return null;
}

/** Every demand on a delivery that is not met, as sentences. */
export function deliveryRefusals(policies: readonly Policy[], vouchers: readonly Voucher[]): string[] {
  return policies.flatMap(({ deliveries, verdicts }) => {
    const wanted = deliveries?.signers;
    const unsigned = wanted !== undefined && !trustedFor(vouchers, "delivery").some((one) => isNamed(one, wanted));
    const found = verdicts === undefined ? 0 : independentVerdicts(vouchers, verdicts.signers ?? null).length;
    return [
      ...(unsigned ? [`it must be signed by ${wanted.join(" or ")}`] : []),
      ...(verdicts === undefined || found >= verdicts.count
        ? []
        : [`${verdicts.count} independent verdicts that it passed are needed, and there are ${found}`]),
    ];
  });
}

/** By whose word a delivery's own record counts as proven; null when by nobody's. Somebody who says no is heard first. */
export function believedBy(policies: readonly Policy[], vouchers: readonly Voucher[]): string | null {
  if (trustedFor(vouchers, "verdict").some((one) => statedVerdict(one) === "FAILED")) return null;
  for (const { deliveries, verdicts } of policies) {
    const named = deliveries?.believe;
    const maker = trustedFor(vouchers, "delivery").find((one) => named !== undefined && isNamed(one, named));
    if (maker !== undefined) return maker.principals.join(", ");
    const seen = verdicts === undefined ? [] : independentVerdicts(vouchers, verdicts.signers ?? null);
    if (verdicts !== undefined && seen.length >= verdicts.count) return seen.join(", ");
  }
  return null;
}

/**
 * Who, apart from those who made the delivery, signed that it passed: each person and each key once. The names are sorted, so
 * that the order of envelopes decides nothing.
 */
export function independentVerdicts(vouchers: readonly Voucher[], names: readonly string[] | null): string[] {
  const makers = vouchers.filter(({ kind, standing }) => kind === "delivery" && standing !== "invalid");
  const keys = new Set(makers.map(({ fingerprint }) => fingerprint));
  const people = new Set(makers.flatMap(({ principals }) => principals.map(personOf)));
  const found = new Map<string, string>();
  for (const one of trustedFor(vouchers, "verdict")) {
    if (statedVerdict(one) !== "PASSED" || (names !== null && !isNamed(one, names))) continue;
    const known = one.principals.some((principal) => people.has(personOf(principal)));
    if (known || keys.has(one.fingerprint)) continue;
    keys.add(one.fingerprint);
    for (const principal of one.principals) people.add(personOf(principal));
    found.set(one.fingerprint!, one.principals[0]!);
  }
  return [...found.values()].sort();
}

export function statedVerdict({ statement }: Voucher): string | null {
  return statement?.predicateType === "https://in-toto.io/attestation/test-result/v0.1"
    ? statement.predicate.result
    : null;
}
