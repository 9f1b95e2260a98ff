import { z } from "zod";

/** A judgement as every command that judges returns it. */
export const FindingShape = z.object({
  code: z.string(),
  severity: z.enum(["error", "warning", "info"]),
  path: z.string(),
  message: z.string(),
  fix: z.string().optional(),
});
