// Shapes and small rules the bundle operations share.
import { resolve } from "node:path";
import type { Readable } from "node:stream";
import { z } from "zod";
import type { Limits } from "../bundle/index.js";
import { type Finding, NutError } from "../errors.js";
import type { Context } from "../operation.js";

export const FindingShape = z.object({
  code: z.string(),
  severity: z.enum(["error", "warning", "info"]),
  path: z.string(),
  message: z.string(),
  fix: z.string().optional(),
});

/** How much a bundle may hold before it is refused; typed by a person, so given as text. */
export const LimitInput = {
  maxEntries: z.coerce.number().int().positive().optional().describe("entries accepted"),
  maxSize: z.coerce.number().int().positive().optional().describe("unpacked bytes accepted"),
};

export function limitsOf(input: { maxEntries?: number | undefined; maxSize?: number | undefined }): Partial<Limits> {
  return {
    ...(input.maxEntries === undefined ? {} : { maxEntries: input.maxEntries }),
    ...(input.maxSize === undefined ? {} : { maxTotalBytes: input.maxSize }),
  };
}

/** A path from where the person stands, or standard input for `-`. */
export function bundleSource(bundle: string, context: Context): string | Readable {
  if (bundle !== "-") return resolve(context.cwd, bundle);
  const stdin = context.stdin();
  if (stdin.isTTY === true) {
    throw new NutError("USAGE", "standard input is a terminal, not a bundle", {
      hint: "cat task.nut | nutshell inspect -",
    });
  }
  return stdin;
}

export function messagesOf(findings: readonly Finding[], severity: Finding["severity"]): string[] {
  return findings.filter((finding) => finding.severity === severity).map(({ message }) => message);
}
