import { bold, count, dim, green, red, yellow } from "../../../cli/text.js";

type Status = "passed" | "failed" | "skipped" | "unknown";

export const MARKS: Readonly<Record<Status, string>> = {
  passed: green("✓"),
  failed: red("✗"),
  skipped: yellow("-"),
  unknown: yellow("?"),
};

interface Hidden {
  readonly count: number;
  readonly run: boolean;
  readonly reason?: string;
  readonly results: readonly { id: string; name: string; status: Status; weakness?: string }[];
}

interface Report {
  readonly verdict: "passed" | "failed" | "incomplete";
  readonly counts: {
    readonly passed: number;
    readonly failed: number;
    readonly skipped: number;
    readonly unknown: number;
    readonly proven: number;
  };
  readonly results: readonly { id: string; status: Status; description?: string; reason?: string; output: string }[];
  readonly hidden: Hidden | null;
  readonly compared: boolean;
  readonly warnings: readonly string[];
}

const VERDICTS = { passed: green("passed"), failed: red("failed"), incomplete: yellow("incomplete") } as const;

/** Hidden ones that pass do not complete a request without an open one. */
const NO_OPEN_CHECK = "the request has no check but hidden ones";

export function reportLines({ verdict, counts, results, hidden, compared, warnings }: Report): string[] {
  if (results.length === 0 && hidden === null) return [`${VERDICTS.incomplete}: the request has nothing to run`];
  const { passed, failed, skipped, unknown, proven } = counts;
  const parts = [results.length === 0 ? NO_OPEN_CHECK : `${passed} of ${count(results.length, "check")} passed`];
  if (compared) parts.push(`${proven} proven by the work`);
  if (failed > 0) parts.push(`${failed} failed`);
  if (skipped > 0) parts.push(`${skipped} skipped`);
  if (unknown > 0) parts.push(`${unknown} for a person to judge`);
  if (hidden !== null) parts.push(hiddenWords(hidden));
  const alone = compared ? "" : dim(" (not compared with an untouched request)");
  return [
    ...results.flatMap(({ id, status, description, reason, output }) => [
      `${MARKS[status]} ${bold(id)}${description === undefined ? "" : ` ${description}`}${reason === undefined ? "" : dim(` (${reason})`)}`,
      ...(status === "failed" ? lastLines(output) : []),
    ]),
    ...(hidden === null ? [] : hiddenLines(hidden)),
    ...warnings.map((warning) => `${yellow("⚠")} ${warning}`),
    `${VERDICTS[verdict]}: ${parts.join(", ")}${alone}`,
  ];
}

function hiddenWords({ count: checks, run, results }: Hidden): string {
  if (!run) return `${checks} hidden, not run`;
  return `${results.filter(({ status }) => status === "passed").length} of ${checks} hidden passed`;
}

/** Names are for whoever opened them; what they print is for nobody. */
function hiddenLines({ count: checks, run, reason, results }: Hidden): string[] {
  if (!run) return [`${yellow("?")} ${checks} hidden, not run${reason === undefined ? "" : dim(` (${reason})`)}`];
  return results.map(({ id, name, status, weakness }) => {
    return `${MARKS[status]} ${bold(id)} ${name}${weakness === undefined ? "" : dim(` (${weakness})`)}`;
  });
}

function lastLines(output: string): string[] {
  const lines = output.trimEnd().split("\n");
  return lines[0] === "" ? [] : lines.slice(-5).map((line) => dim(`    ${line}`));
}
