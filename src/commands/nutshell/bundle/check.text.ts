import { command } from "../../../cli/command.js";
import { bold, count, cyan, dim, green, red, yellow } from "../../../cli/text.js";
import { DIR, FOLDER, folderInput } from "../flags.js";
import { check } from "./check.js";

export default command(check, {
  positionals: [{ ...FOLDER, about: "the task's folder; a .nut file or - (standard input) works too" }],
  flags: {
    ...DIR,
    fix: { about: "do the mechanical part: pointers, spelling, outlines to fill in" },
    "context-window": { value: "<tokens>", about: "what context_budget_hint is a share of (default: 200000)" },
  },
  about: [
    "Looks at the manifest and at everything it names: documents, interfaces, credentials, criteria, test scripts. What keeps an agent from starting comes first, each with the command that fixes it. A delivery is checked for its request, its result, every artifact and an answer to each point of the checklist.",
    "Exit status: 0 ready, 1 draft or incomplete, 2 could not look.",
  ],
  examples: [
    ["nutshell check my-task", "what is missing in my-task/"],
    ["nutshell check my-task --fix", "and do what needs no thought"],
    ["nutshell check --json --dir my-task | jq .status", "for scripts"],
  ],
  input: folderInput,
  text(result) {
    const errors = result.findings.filter(({ severity }) => severity === "error");
    const warnings = result.findings.filter(({ severity }) => severity === "warning");
    const lines = [bold("🐚 Nutshell completeness check"), ""];
    for (const line of result.fixed) lines.push(`  ${cyan("+")} ${line}`);
    for (const { path, message } of result.passed) lines.push(`  ${green("✓")} ${path}: ${message}`);
    for (const { path, message } of errors) lines.push(`  ${red("✗")} ${path}: ${message}`);
    for (const { path, message } of warnings) lines.push(`  ${yellow("⚠")} ${path}: ${message}`);
    lines.push("", verdict(result.status, errors.length));
    lines.push(...steps("To fix:", errors), ...steps("Worth adding:", warnings));
    return lines;
  },
  exit: ({ status }) => (status === "ready" ? 0 : 1),
});

function verdict(status: string, errors: number): string {
  if (status === "ready") return `Status: ${green("READY")}: an agent can start`;
  const items = `${count(errors, "item")} ${errors === 1 ? "needs" : "need"} attention before an agent can start`;
  return `Status: ${red(status.toUpperCase())}: ${items}`;
}

/** The same command once: one edit often answers several findings. */
function steps(heading: string, findings: readonly { path: string; message: string; fix?: string | undefined }[]) {
  const byFix = new Map<string, string[]>();
  for (const { path, message, fix } of findings) {
    if (fix !== undefined) byFix.set(fix, [...(byFix.get(fix) ?? []), `${path}: ${message}`]);
  }
  if (byFix.size === 0) return [];
  const lines = ["", heading];
  for (const [index, [fix, why]] of [...byFix].entries()) {
    lines.push(`  ${index + 1}. ${dim(why[0]!)}${why.length > 1 ? dim(` (and ${why.length - 1} more)`) : ""}`);
    lines.push(`     ${cyan(fix)}`);
  }
  return lines;
}
