// policy.yml: whose word counts, for what. Lists hold principals of allowed_signers; `*@example.org` stands for several. An
// identity of Sigstore is written with who vouches for it: `alice@example.org issuer=https://accounts.example.org`.
import { z } from "zod";
import type { DeepReadonly } from "./shared.js";

const Signers = z.array(z.string().min(1).max(1_100)).min(1);

export const Policy = z
  .strictObject({
    version: z.literal(1),
    requests: z.strictObject({ signers: Signers.describe("whose requests may be run at all") }).optional(),
    deliveries: z
      .strictObject({
        signers: Signers.optional().describe("who must have signed a delivery"),
        believe: Signers.optional().describe("whose deliveries count as proven without a rerun"),
      })
      .optional(),
    verdicts: z
      .strictObject({
        count: z.int().min(1).max(16).describe("how many independent parties must have signed that it passed"),
        signers: Signers.optional().describe("who counts; by default everybody who is trusted"),
      })
      .optional(),
  })
  .describe("policy.yml: whose requests, deliveries and verdicts count");
export type Policy = DeepReadonly<z.infer<typeof Policy>>;
