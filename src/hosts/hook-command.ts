// The words a host starts our hook with. A shell stands between the two, so that a hook that hangs, dies or cannot start
// still answers: hosts let a tool run unless the hook ends with 2. Windows has no such shell, and there we are started plainly.

/** Longer than a gate takes to give up by itself, shorter than any host waits. */
const LATE_SECONDS = 5;

/** Marks of roles at work that may not edit (session/lookout.ts), one file each. `$0` is the harness's id. */
const MARKS = `"\${XDG_STATE_HOME:-$HOME/.local/state}/nutcracker/held/$0"`;

/** Options for Node are the person's programs', not ours, and a bad one keeps every Node from starting. */
const PLAIN = "unset NODE_OPTIONS";

/** Late is denied. A gate that cannot start denies while such a role is at work; otherwise the person is told. */
const GATE = [
  `if command -v timeout >/dev/null 2>&1; then timeout -s KILL ${LATE_SECONDS} "$@"`,
  // Where there is no such program (macOS); the alarm outlives the exec.
  `elif command -v perl >/dev/null 2>&1; then perl -e "alarm ${LATE_SECONDS}; exec @ARGV" "$@"`,
  'else "$@"; fi',
  "s=$?",
  "case $s in 0|2) exit $s;; 124|137|142) echo nexus: could not decide in time, denied >&2; exit 2;; esac",
  `for f in ${MARKS}-*; do [ -e "$f" ] || [ -n "$NEXUS_ROLE" ] || continue`,
  "echo nexus: the gate cannot start while a role that may not edit is at work, denied >&2; exit 2; done",
  "echo nexus: the gate cannot start, so nothing holds the agents to their roles >&2; exit 1",
].join("; ");

/** An agent whose start we could not see may be one that may not edit. */
const AGENT_START = [
  '"$@"',
  "s=$?",
  `[ $s = 0 ] || { umask 077; mkdir -p "$(dirname ${MARKS})"; : >${MARKS}-unseen; }`,
  "exit $s",
].join("; ");

const OTHER = 'exec "$@"';

export interface HookWords {
  /** The words that start the hook, host and event included; quoted already where a shell needs it. */
  readonly words: readonly string[];
  readonly harnessId: string;
  readonly event: string;
  readonly platform: string;
  /** Script that puts the program in front of the words, or says that there is none and exits with this. */
  readonly find?: (exit: number) => string;
}

export function throughShell({ words, harnessId, event, platform, find }: HookWords): string {
  if (platform === "win32") return words.join(" ");
  const isGate = event === "PreToolUse" || event === "BeforeTool";
  const body = isGate ? GATE : event === "SubagentStart" ? AGENT_START : OTHER;
  const script = [PLAIN, ...(find === undefined ? [] : [find(isGate ? 2 : 1)]), body].join("; ");
  return ["/bin/sh -c", `'${script}'`, harnessId, ...words].join(" ");
}

export function shellQuoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
