// Programs that run what follows them, and how many of the words behind them are their own.
import type { Word } from "./shell-parse.js";
import { baseName, has, rowOf } from "./shell-programs.js";

interface Wrapper {
  /** Operands it keeps for itself. */
  readonly keeps?: number;
  /** Letters of options that a value follows. */
  readonly values?: string;
}

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  sudo: { values: "uUgGhpCcDRrTt" },
  doas: { values: "uC" },
  env: { values: "uC" },
  timeout: { keeps: 1, values: "sk" },
  nice: { values: "n" },
  ionice: { values: "cnpPu" },
  stdbuf: { values: "ioe" },
  time: { values: "of" },
  exec: { values: "a" },
  strace: { values: "aeEIoOpPsSuUXb" },
  ltrace: { values: "aADeFlnopsuwxX" },
  unshare: { values: "SGRw" },
  chroot: { keeps: 1 },
  flock: { keeps: 1, values: "wE" },
  watch: { values: "nq" },
  caffeinate: { values: "tw" },
  nsenter: { values: "tSG" },
  setarch: { keeps: 1 },
  npx: { values: "pw" },
  taskset: { keeps: 1 },
  chrt: { keeps: 1, values: "TPD" },
  runuser: { values: "ugGsw" },
  numactl: { values: "CNmpi" },
  choom: { values: "n" },
  cpulimit: { values: "lp" },
  gosu: { keeps: 1 },
  "su-exec": { keeps: 1 },
  faketime: { keeps: 1 },
  "xvfb-run": { values: "nsefpw" },
  "ssh-agent": { values: "aEPt" },
  tini: { values: "pe" },
  fakeroot: { values: "libs" },
  logsave: { keeps: 1 },
  lckdo: { keeps: 1 },
  ...Object.fromEntries(
    "nohup setsid command builtin busybox toybox chronic entr linux32 linux64 pkexec valgrind bunx pnpx unbuffer setpriv prlimit uclampset eatmydata proot firejail dumb-init catchsegv rlwrap dbus-run-session dbus-launch aa-exec ifne uvx proxychains proxychains4 torsocks"
      .split(" ")
      .map((name) => [name, {}]),
  ),
};

/** Long options that a value follows as a word of its own. */
const LONG_VALUES =
  /^--(?:user|group|signal|kill-after|adjustment|reuid|regid|ruid|euid|rgid|egid|groups|chdir|chroot|unset|output|argv0|target|package|env|profile)$/;

/** Programs with a verb that runs what follows: `npm exec touch f`. */
const RUNNERS: Readonly<Record<string, readonly string[]>> = {
  npm: ["exec", "x"],
  pnpm: ["exec", "dlx"],
  yarn: ["exec", "dlx", "run"],
  bun: ["x"],
  uv: ["run"],
  poetry: ["run"],
  pipenv: ["run"],
  pipx: ["run"],
  conda: ["run"],
  hatch: ["run"],
  pdm: ["run"],
  rye: ["run"],
  bundle: ["exec"],
  mise: ["exec", "x"],
  asdf: ["exec"],
  perf: ["stat", "record"],
  tmux: [],
};

/** An option whose value is text for a shell: `flock f -c 'touch g'`, `nix-shell --run`. */
const SHELL_TEXT = /^(?:-[a-zA-Z]*c|--(?:command|call|run))$/;
const TAKES_TEXT: ReadonlySet<string> = new Set(
  "flock npx npm pnpm yarn runuser sg capsh nix-shell nix watch".split(" "),
);
/** With `-o` they keep what they saw in a file. */
const KEEPS = /^(?:time|strace|ltrace|perf)$/;
export const keepsOutput = (words: readonly Word[]): boolean =>
  KEEPS.test(baseName(words[0]?.text ?? "")) && words.some(({ text }) => /^(?:-o|--output)/.test(text));

/** What they are given is put together and read by a shell. */
const JOINS: ReadonlySet<string> = new Set(["watch", "hyperfine"]);

const MAX_WRAPPERS = 16;

/** Strips assignments and wrappers from the front; "unreadable" when the program's name depends on expansion. */
export function unwrap(words: readonly Word[]): readonly Word[] | "unreadable" {
  let at = 0;
  for (let i = 0; i < MAX_WRAPPERS; i += 1) {
    // An option in front belongs to `time`, which is a word of the grammar.
    while (at < words.length && /^(?:[A-Za-z_]\w*\+?=|-)/.test(words[at]!.text)) at += 1;
    const program = words[at];
    if (program === undefined) return [];
    if (program.dynamic) return "unreadable";
    const name = baseName(program.text);
    const text = shellText(name, words.slice(at + 1));
    if (text !== null) return [SHELL, RUN, text];
    const next = afterWrapper(name, words, at);
    if (next === null) return words.slice(at);
    // Its value is a command line of its own.
    if (name === "env" && has(words.slice(at), /^(?:-[a-zA-Z0-9]*S|--split-string)/)) return "unreadable";
    if (program.text === "command" && /^-[vV]$/.test(words[at + 1]?.text ?? "")) return [];
    at = next;
  }
  return "unreadable";
}

const SHELL: Word = { text: "sh", dynamic: false };
const RUN: Word = { text: "-c", dynamic: false };

function shellText(name: string, args: readonly Word[]): Word | null {
  if (JOINS.has(name)) {
    const rest = args.slice(afterOptions(args, 0, "nq"));
    const joined = { text: rest.map(({ text }) => text).join(" "), dynamic: rest.some(({ dynamic }) => dynamic) };
    return rest.length === 0 ? null : joined;
  }
  if (!TAKES_TEXT.has(name)) return null;
  const flag = args.findIndex(({ text }) => SHELL_TEXT.test(text));
  return flag < 0 ? null : (args[flag + 1] ?? null);
}

/** Where what it runs begins; null when it runs nothing. */
function afterWrapper(name: string, words: readonly Word[], at: number): number | null {
  const wrapper = rowOf(WRAPPERS, name);
  if (wrapper !== undefined) return afterOptions(words, at + 1, wrapper.values ?? "") + (wrapper.keeps ?? 0);
  const verb = afterOptions(words, at + 1, "CnpP");
  const isRun = rowOf(RUNNERS, name)?.includes(words[verb]?.text ?? "") === true;
  return isRun ? afterOptions(words, verb + 1, "pnoe") : null;
}

/** Where the operands begin. */
function afterOptions(words: readonly Word[], from: number, values: string): number {
  let at = from;
  while (at < words.length && words[at]!.text.startsWith("-")) {
    const { text } = words[at]!;
    if (text === "--") return at + 1;
    const takesNext = /^-[a-zA-Z]+$/.test(text) ? values.includes(text.at(-1)!) : LONG_VALUES.test(text);
    at += takesNext ? 2 : 1;
  }
  return at;
}
