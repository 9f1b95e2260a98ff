import { createHash } from "node:crypto";
import { sortedLabels } from "./names.js";

export interface JobWords {
  /** SHA-256 of the request as its submitter has it. */
  readonly request: string;
  readonly labels: readonly string[];
  readonly driver?: string | undefined;
  readonly budget: readonly string[];
  /** Makes the same request another job. */
  readonly again?: string | undefined;
}

/** The same request, asked for in the same way, is the same job, whoever hands it in and however often. */
export function jobId({ request, labels, driver, budget, again }: JobWords): string {
  const words = [request, sortedLabels(labels), driver ?? "", [...budget], again ?? ""];
  return createHash("sha256").update(JSON.stringify(words)).digest("hex").slice(0, 24);
}
