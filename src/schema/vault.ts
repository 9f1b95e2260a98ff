// credentials/vault.enc.json, once opened. Values live only here; the manifest mirrors everything else.
import { z } from "zod";
import { Timestamp } from "./shared.js";

/** Names that `add-credential` takes; each becomes a variable's name. */
export const CREDENTIAL_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

export const Credential = z.looseObject({
  name: z.string().min(1),
  type: z.string().min(1),
  value: z.union([z.string(), z.record(z.string(), z.unknown())]),
  scopes: z.array(z.string()).optional(),
  restrictions: z.record(z.string(), z.unknown()).optional(),
  expires_at: Timestamp.optional(),
  revoked_at: Timestamp.optional(),
});

export const Vault = z
  .looseObject({
    vault_version: z.string(),
    created_at: Timestamp.optional(),
    expires_at: Timestamp.optional(),
    binding: z.string().optional().describe("digest of the checks it serves: criteria, scripts, endpoints, scopes"),
    credentials: z.array(Credential),
  })
  .describe("Nutshell v0.2.0 credential vault, in clear");

export type Vault = z.infer<typeof Vault>;
export type Credential = z.infer<typeof Credential>;
