// Logs as people read them: without what speaks to a terminal, and the line that says what went wrong.

/** Sequences of escape characters: colours, cursor moves, titles, links. */
const ESCAPES =
  /\u001b\[[0-?]*[ -/]*[@-~]|\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\|$)|\u001b[@-Z\\^_=>78cDEHMNOZ]|\u009b[0-?]*[ -/]*[@-~]/g;

export function withoutEscapes(text: string): string {
  return text.replace(ESCAPES, "");
}

const TELLING =
  /\b(?:error|errors|failed|failure|fail|fatal|panic|panicked|exception|traceback|expected|refused|denied|cannot|not found|no such|undefined)\b|[a-z]Error\b|^not ok\b|[✗✘×❌]/i;
/** Lines that name an error, against those that only belong to one. */
const NAMING = /[A-Za-z]Error\b|\b(?:error|fatal|panic(?:ked)?)\b|^not ok\b|\bFAIL(?:ED)?\b|[✗✘×❌]/;
/** True sentences about nothing: "0 failed", "no errors". */
const HARMLESS = /\b(?:0|no|without) (?:errors?|failures?|failed|warnings?)\b|^\s*at /i;

export function isTelling(line: string): boolean {
  return TELLING.test(line) && !HARMLESS.test(line);
}

/** The last line that says what went wrong, or the last one there is; of a long one its beginning. */
export function tellingLine(log: string, most = 300): string {
  const lines = withoutEscapes(log)
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const told = lines.filter(isTelling);
  const line = told.findLast((each) => NAMING.test(each)) ?? told.at(-1) ?? lines.at(-1) ?? "";
  return line.length > most ? `${line.slice(0, most)}…` : line;
}
