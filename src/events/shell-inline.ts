// Words that make a harmless program run something else, wherever they stand: settings of git, variables before a command,
// names that a shell evaluates.
import type { Word } from "./shell-parse.js";

/** Settings whose value git runs, or that lead to more of them. */
const GIT_RUNS =
  /^(?:alias\.|include|pager\.|credential\.|gpg\.|sequence\.editor|core\.(?:fsmonitor|pager|editor|sshcommand|hookspath|gitproxy|askpass|attributesfile|worktree)|diff\.external)|\.(?:textconv|command|driver|cmd|path|program|helper|process|clean|smudge|pager|uploadpack|receivepack|proxy)(?:=|$)/i;

/** `git -c key=value`, with what stands before git's verb. */
export function gitRuns(before: readonly Word[]): boolean {
  return before.some(
    ({ text, dynamic }, i) =>
      /^--(?:exec-path=|config-env)/.test(text) ||
      (before[i - 1]?.text === "-c" && (dynamic || GIT_RUNS.test(text))) ||
      /^-c./.test(text),
  );
}

/** Variables that programs run, or load code from. */
const RUNS =
  /^(?:LD_(?:PRELOAD|AUDIT|LIBRARY_PATH)|BASH_ENV|ENV|PROMPT_COMMAND|PS4|SHELLOPTS|GIT_(?:SSH|SSH_COMMAND|EXTERNAL_DIFF|PAGER|EDITOR|SEQUENCE_EDITOR|PROXY_COMMAND|ASKPASS|EXEC_PATH|CONFIG.*)|(?:MAN|GH_)?PAGER|EDITOR|VISUAL|BROWSER|LESSOPEN|LESSCLOSE|NODE_OPTIONS|PYTHON(?:STARTUP|PATH|HOME)|PERL5(?:OPT|LIB)|RUBY(?:OPT|LIB)|_?JAVA_(?:TOOL_)?OPTIONS|RUSTC_(?:WORKSPACE_)?WRAPPER|BASH_FUNC_.*)\+?=/;

/** What may stand between a variable and what obeys it. */
const SETS = /(?:^|\/)(?:env|sudo|export|declare|typeset|readonly|local|-\w+)$/;

/** A variable before a command, which the command or what it starts obeys. */
export const setsWhatRuns = (words: readonly Word[]): boolean => {
  for (const { text } of words) {
    if (RUNS.test(text)) return true;
    // Arithmetic evaluates what a variable holds: `x='a[$(…)]'; ((x))`.
    if (/^\w+=/.test(text) && text.includes("[$(")) return true;
    if (!/^[A-Za-z_]\w*\+?=/.test(text) && !SETS.test(text)) return false;
  }
  return false;
};

/** A subscript is evaluated, and what is evaluated may run something: `printf -v 'a[$(…)]'`. */
const EVALUATES: ReadonlySet<string> = new Set(
  "printf read declare typeset local export readonly unset let test [ [[ mapfile readarray".split(" "),
);
export const evaluatesText = (name: string, args: readonly Word[]): boolean =>
  EVALUATES.has(name) &&
  args.some(({ text, dynamic }) => !dynamic && text.includes("[") && (text.includes("$(") || text.includes("`")));
