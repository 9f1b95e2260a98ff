// Checks that only whoever verifies can read: what everybody sees of them, and what is inside the sealed file.
import { z } from "zod";
import { Criteria } from "./criteria.js";
import { BundleId, Sha256 } from "./shared.js";

export const HiddenSummary = z
  .looseObject({
    count: z.int().positive().describe("how many checks there are"),
    digest: Sha256.describe("sha256 of acceptance/hidden.age"),
    recipients: z.int().positive().describe("how many keys open it"),
  })
  .describe("checks sealed for whoever verifies, in acceptance/hidden.age; made by nutshell hide");
export type HiddenSummary = z.infer<typeof HiddenSummary>;

const HiddenFile = z.object({
  path: z.string().min(1).describe("path from the bundle's root"),
  executable: z.boolean(),
  content: z.base64(),
});

export const HiddenChecks = z.object({
  hidden_version: z.literal("1"),
  request: BundleId.describe("the request they belong to: moved into another one they are refused"),
  criteria: Criteria.shape.criteria.min(1),
  files: z.array(HiddenFile),
});
export type HiddenChecks = z.infer<typeof HiddenChecks>;
