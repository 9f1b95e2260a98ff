import { dim, red, yellow } from "../../../cli/text.js";
import type { Finding } from "../../../errors.js";

export function findingLines(findings: readonly Finding[]): string[] {
  return findings.flatMap(({ severity, path, message, fix }) => [
    `${severity === "error" ? red(severity) : yellow(severity)}  ${path}: ${message}`,
    ...(fix === undefined ? [] : [dim(`       ${fix}`)]),
  ]);
}
