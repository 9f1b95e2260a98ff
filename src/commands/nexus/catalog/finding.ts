import { z } from "zod";

export const FindingSchema = z.object({
  code: z.string(),
  severity: z.enum(["error", "warning", "info"]),
  path: z.string(),
  message: z.string(),
  fix: z.string().optional(),
});
