// How a credential would be used, and which of its limits anything holds: said before anybody works.
import { z } from "zod";
import { planChecks } from "../../acceptance/index.js";
import { limitWords, type Policy, policyOf, servableType } from "../../broker/index.js";
import { NutError } from "../../errors.js";
import type { Endpoints } from "../../schema/endpoints.js";
import type { CredentialScope, Manifest } from "../../schema/manifest.js";
import type { Vault } from "../../schema/vault.js";
import { earliestExpiry } from "../../vault/index.js";

export const CredentialUseShape = z.object({
  use: z
    .enum(["lent", "handed_out", "unknown"])
    .describe("lent: used through the broker, its value never seen; unknown: the vault is closed"),
  enforced: z.array(z.string()).describe("limits that the broker or the service itself holds"),
  promised: z.array(z.string()).describe("limits that are only written down"),
  why: z.string().optional().describe("why its value can only be handed out, or why it is not known"),
});
export type CredentialUseShape = z.infer<typeof CredentialUseShape>;

/** Null when there is none, or it cannot be read: then it declares nothing. */
export function endpointsOf(dir: string, manifest: Manifest): Endpoints | null {
  try {
    return planChecks(dir, manifest).endpoints;
  } catch (error) {
    if (error instanceof NutError) return null;
    throw error;
  }
}

/** With the vault open. */
export function usesIn(vault: Vault, manifest: Manifest, endpoints: Endpoints | null): Map<string, CredentialUseShape> {
  const scopes = manifest.credentials?.scopes ?? [];
  return new Map(
    vault.credentials.map((credential) => {
      const scope = scopes.find(({ name }) => name === credential.name);
      const expiresAt = earliestExpiry([vault.expires_at, credential.expires_at, scope?.expires_at]);
      return [credential.name, useOf(policyOf({ credential, scope, expiresAt, manifest, endpoints }))];
    }),
  );
}

/** With the vault closed: the type alone says what cannot be. */
export function useOfScope({
  type,
  access_level: access,
  rate_limit: rate,
}: Pick<CredentialScope, "type" | "access_level" | "rate_limit">): CredentialUseShape {
  const limits = [
    ...(access === undefined ? [] : [`access: ${access}`]),
    ...(rate === undefined ? [] : [`rate_limit: ${rate}`]),
  ];
  if (servableType(type) !== null)
    return {
      use: "unknown",
      enforced: [],
      promised: [],
      why: "the vault is closed, so its address and limits are not known",
    };
  return {
    use: "handed_out",
    enforced: [],
    promised: limits,
    why: `nothing here speaks for a credential of type ${type}`,
  };
}

function useOf({ service, why, limits, promised }: Policy): CredentialUseShape {
  if (why !== null || service === null)
    return {
      use: "handed_out",
      enforced: [],
      promised: [...limitWords(limits), ...promised],
      ...(why === null ? {} : { why }),
    };
  const base = { enforced: limitWords(limits), promised: [...promised] };
  switch (service.kind) {
    case "http":
      return { use: "lent", ...base, enforced: [`only ${service.bases.join(", ")}`, ...base.enforced] };
    case "git":
      return { use: "lent", ...base, enforced: [`only ${service.repository}`, ...base.enforced] };
    case "postgresql":
      return { use: "lent", ...base, enforced: [`only ${service.host}:${service.port}`, ...base.enforced] };
    case "ssh":
      return { use: "lent", ...base };
  }
}

/** One line for people. */
export function useWords(name: string, { use, enforced, promised, why }: CredentialUseShape): string {
  const how = {
    lent: "lent, its value is never seen",
    handed_out: "handed out, its value is seen",
    unknown: "not known",
  }[use];
  const parts = [
    `${name}: ${how}`,
    ...(enforced.length === 0 ? [] : [`enforced: ${enforced.join("; ")}`]),
    ...(promised.length === 0 ? [] : [`only promised: ${promised.join("; ")}`]),
    ...(why === undefined ? [] : [why]),
  ];
  return parts.join("; ");
}
