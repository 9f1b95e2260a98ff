// What programs do to files, as a table: program → the writes its arguments ask for.
import { gitWrites } from "./shell-git.js";
import { literal, type Word } from "./shell-parse.js";

export interface ShellWrite {
  /** What was recognised, for the person who reads the refusal. */
  readonly how: string;
  /**
   * `direct` writes files as its purpose; `tool` changes the work tree as a side effect (git pull, npm install);
   * `undecided` is a command too long or too deep to be read.
   */
  readonly kind: "direct" | "tool" | "undecided";
  /** Where, as written and relative to the shell's folder; null when it cannot be told. */
  readonly path: string | null;
}

export const SHELLS: ReadonlySet<string> = new Set(
  "sh bash zsh dash ksh mksh ash fish rbash tcsh csh nu elvish xonsh pwsh su runuser script".split(" "),
);

/** What a program writes when it is given these words. */
export type WritesOf = (args: readonly Word[]) => ShellWrite[];

/** A row of a table by a name from a command line, and nothing an object inherits. */
export function rowOf<Row>(table: Readonly<Record<string, Row>>, name: string): Row | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** `/usr/bin/tee` is tee. */
export const baseName = (program: string): string => program.slice(program.lastIndexOf("/") + 1);

export const plain = (args: readonly Word[]): Word[] => args.filter(({ text }) => !text.startsWith("-"));
export const write = (how: string, path: string | null, kind: ShellWrite["kind"] = "direct"): ShellWrite => ({
  how,
  kind,
  path,
});
export const has = (args: readonly Word[], flag: RegExp): boolean => args.some(({ text }) => flag.test(text));

/** Every operand is a target. */
const each =
  (how: string): WritesOf =>
  (args) =>
    plain(args).map((word) => write(how, literal(word)));

/** The last operand is the target, unless `-t folder` names it; a move also removes its sources. */
const last =
  (how: string, takesSources = false): WritesOf =>
  (args) => {
    const operands = plain(args);
    const named = args.findIndex(({ text }) => text === "-t" || text === "--target-directory");
    const target = named >= 0 ? args[named + 1] : operands.at(-1);
    const sources = takesSources ? operands.slice(0, -1) : [];
    return [target, ...sources].filter((word) => word !== undefined).map((word) => write(how, literal(word)));
  };

/** Writes only when a flag says so, to the value of that flag or to a place we cannot name. */
export const flagged =
  (how: string, flag: RegExp, kind: ShellWrite["kind"] = "direct"): WritesOf =>
  (args) =>
    args.flatMap(({ text }, i) => {
      const match = flag.exec(text);
      if (match === null) return [];
      const value = match[1] !== undefined && match[1] !== "" ? match[1] : literal(args[i + 1]);
      return [write(how, kind === "direct" ? value : null, kind)];
    });

const always =
  (how: string, kind: ShellWrite["kind"] = "direct"): WritesOf =>
  () => [write(how, null, kind)];

const verbs =
  (program: string, kinds: Readonly<Record<string, ShellWrite["kind"]>>): WritesOf =>
  (args) => {
    const verb = plain(args)[0]?.text ?? "";
    const kind = rowOf(kinds, verb);
    return kind === undefined ? [] : [write(`${program} ${verb}`, null, kind)];
  };

const inPlace =
  (program: string): WritesOf =>
  (args) => {
    const edits = has(args, /^(?:-[a-zA-Z0-9]*i(?:$|[^a-z])|-[nEszu]*i|--in-place)/);
    if (edits)
      return plain(args)
        .slice(1)
        .map((word) => write(`${program} -i`, literal(word)));
    if (args.some(({ text }) => SED_RUNS.test(oneLine(text)))) return [write(`${program} e`, null)];
    return args.some(({ text }) => SED_WRITES.test(oneLine(text))) ? [write(`${program} w`, null)] : [];
  };
/** Its `e` runs a command, or what a substitution made. */
const SED_RUNS = /(?:^|[;{}\d$/] ?)e \S|^s(.).*\1[gpiImM\d]*e[gpiImM\d]*(?:;|$)/;
/** sed's own `w` command writes a file from inside the script. */
const SED_WRITES = /(?:^|[;{}/\d$] ?|\/[gpiI\d]*)w [^ ;]/;

/** Lines as commands, and one blank for many, so that no pattern has to run over blanks. */
export function oneLine(script: string): string {
  const lines = script.split("\n").map((line) => line.trim());
  return lines.join(";").replace(/\s+/g, " ");
}

const packages = verbs("package manager", {
  install: "tool",
  i: "tool",
  ci: "tool",
  add: "tool",
  remove: "tool",
  rm: "tool",
  uninstall: "tool",
  update: "tool",
  upgrade: "tool",
  up: "tool",
  init: "tool",
  create: "tool",
  version: "tool",
  link: "tool",
  dedupe: "tool",
  prune: "tool",
  pack: "tool",
  publish: "tool",
  set: "tool",
});
const editor = always("an editor");

export const PROGRAMS: Readonly<Record<string, WritesOf>> = {
  tee: each("tee"),
  sponge: each("sponge"),
  touch: each("touch"),
  rm: each("rm"),
  rmdir: each("rmdir"),
  unlink: each("unlink"),
  shred: each("shred"),
  truncate: each("truncate"),
  mkdir: each("mkdir"),
  mkfifo: each("mkfifo"),
  mknod: each("mknod"),
  chmod: each("chmod"),
  chown: each("chown"),
  chgrp: each("chgrp"),
  chattr: each("chattr"),
  setfacl: each("setfacl"),
  cp: last("cp"),
  mv: last("mv", true),
  install: last("install"),
  ln: last("ln"),
  rsync: last("rsync"),
  scp: last("scp"),
  link: last("link"),
  rename: each("rename"),
  dd: flagged("dd of=", /^of=(.+)/),
  sed: inPlace("sed"),
  gsed: inPlace("sed"),
  patch: always("patch"),
  apply_patch: always("apply_patch"),
  applypatch: always("apply_patch"),
  git: gitWrites,
  ed: editor,
  ex: editor,
  vi: editor,
  vim: editor,
  nvim: editor,
  nano: editor,
  emacs: editor,
  pico: editor,
  joe: editor,
  red: editor,
  tar: archives,
  bsdtar: archives,
  unzip: (args) => (has(args, /^-[lptvZ]/) ? [] : [write("unzip", null)]),
  zip: always("zip"),
  "7z": verbs("7z", { x: "direct", e: "direct", a: "direct" }),
  cpio: flagged("cpio", /^-[a-z]*[ip]/),
  ar: always("ar"),
  gzip: unlessStdout("gzip"),
  gunzip: unlessStdout("gunzip"),
  bzip2: unlessStdout("bzip2"),
  bunzip2: unlessStdout("bunzip2"),
  xz: unlessStdout("xz"),
  unxz: unlessStdout("unxz"),
  zstd: unlessStdout("zstd"),
  unzstd: unlessStdout("unzstd"),
  curl: flagged("curl -o", /^(?:-[a-zA-Z]*[oO]|--output|--remote-name|--output-dir)(?:=(.*))?$/),
  wget: (args) =>
    args.some(({ text }, i) => text === "-O-" || text === "-qO-" || (/^-q?O$/.test(text) && args[i + 1]?.text === "-"))
      ? []
      : [write("wget", null)],
  split: always("split"),
  csplit: always("csplit"),
  sort: flagged("sort -o", /^(?:-[a-z]*o|--output)(?:=(.*))?$/),
  uniq: (args) =>
    plain(args)
      .slice(1)
      .map((word) => write("uniq output", literal(word))),
  dos2unix: each("dos2unix"),
  unix2dos: each("unix2dos"),
  iconv: flagged("iconv -o", /^(?:-o|--output)(?:=(.*))?$/),
  openssl: flagged("openssl -out", /^-out$/),
  yq: flagged("yq -i", /^(?:-[a-z]*i|--inplace)$/),
  prettier: flagged("prettier --write", /^(?:-w|--write)$/, "tool"),
  eslint: flagged("eslint --fix", /^--fix/, "tool"),
  biome: flagged("biome --write", /^--(?:write|fix|apply)/, "tool"),
  black: unlessCheck("black"),
  isort: unlessCheck("isort"),
  rustfmt: unlessCheck("rustfmt"),
  ruff: flagged("ruff --fix", /^--fix/, "tool"),
  gofmt: flagged("gofmt -w", /^-w$/, "tool"),
  "clang-format": flagged("clang-format -i", /^-i$/, "tool"),
  npm: packages,
  pnpm: packages,
  yarn: packages,
  bun: packages,
  pip: packages,
  pip3: packages,
  uv: packages,
  poetry: packages,
  gem: packages,
  composer: packages,
  cargo: verbs("cargo", {
    fix: "tool",
    fmt: "tool",
    add: "tool",
    remove: "tool",
    new: "tool",
    init: "tool",
    update: "tool",
  }),
  go: verbs("go", { fmt: "tool", get: "tool", mod: "tool", generate: "tool", fix: "tool" }),
  at: always("a deferred command"),
  batch: always("a deferred command"),
  crontab: always("a deferred command"),
  tmux: always("a terminal of its own"),
  screen: always("a terminal of its own"),
  socat: always("socat"),
  gdb: always("a debugger"),
  sqlite3: always("sqlite3"),
  logger: () => [],
  fallocate: each("fallocate"),
  setfattr: each("setfattr"),
  mktemp: (args) => (has(args, /^-\w*u/) ? [] : [write("mktemp", null, "tool")]),
  shuf: flagged("shuf -o", /^(?:-o|--output)(?:=(.*))?$/),
  tree: flagged("tree -o", /^-o$/),
  xxd: (args) => (plain(args).length > 1 ? [write("xxd output", literal(plain(args).at(-1)))] : []),
  cmake: flagged("cmake -E", /^-[EP]$/, "tool"),
  rg: flagged("rg --pre", /^--(?:pre|hostname-bin)(?:=|$)/, "tool"),
  man: flagged("man -P", /^(?:-P|--pager)/, "tool"),
  fzf: flagged("fzf", /^--(?:preview|bind|listen)/, "tool"),
  dc: flagged("dc", /^(?:-e|--expression)/, "tool"),
  ssh: (args) => (plain(args).length > 1 ? [write("a command elsewhere", null)] : []),
  bwrap: always("a sandbox of its own"),
  "systemd-run": always("a deferred command"),
  "ld.so": always("a loader"),
  "ld-linux-x86-64.so.2": always("a loader"),
  "ld-linux-aarch64.so.1": always("a loader"),
  enable: flagged("enable -f", /^-\w*f/),
  mapfile: flagged("mapfile -C", /^-C/),
  readarray: flagged("readarray -C", /^-C/),
  bind: flagged("bind -x", /^-x/),
  complete: flagged("complete -C", /^-\w*[CF]/),
  hash: flagged("hash -p", /^-p/),
  mount: always("mount"),
  umount: always("umount"),
  docker: verbs("docker", { cp: "direct", run: "tool", compose: "tool", exec: "tool", build: "tool" }),
  podman: verbs("podman", { cp: "direct", run: "tool", compose: "tool", exec: "tool", build: "tool" }),
};

function archives(args: readonly Word[]): ShellWrite[] {
  const writes = args.some(
    ({ text }) =>
      (/^-?[a-zA-Z]+$/.test(text) && /[xcru]/.test(text)) || /^--(?:extract|get|create|append|update)$/.test(text),
  );
  return writes ? [write("tar", null)] : [];
}

function unlessStdout(program: string): WritesOf {
  return (args) => {
    const shows = args.some(
      ({ text }) =>
        (/^-[a-z0-9]+$/.test(text) && /[clt]/.test(text)) || /^--(?:stdout|to-stdout|list|test)$/.test(text),
    );
    return shows || plain(args).length === 0 ? [] : [write(program, null)];
  };
}
function unlessCheck(program: string): WritesOf {
  return (args) => (has(args, /^--(?:check|diff|check-only)$/) ? [] : [write(program, null, "tool")]);
}

// Programs that run what follows them; the number of operands they keep for themselves.
const WRAPPERS: Readonly<Record<string, number>> = {
  sudo: 0,
  doas: 0,
  env: 0,
  nohup: 0,
  setsid: 0,
  timeout: 1,
  nice: 0,
  ionice: 0,
  stdbuf: 0,
  time: 0,
  command: 0,
  builtin: 0,
  exec: 0,
  strace: 0,
  ltrace: 0,
  unshare: 0,
  chroot: 1,
  flock: 1,
  busybox: 0,
  toybox: 0,
  watch: 0,
  caffeinate: 0,
  chronic: 0,
  entr: 0,
  linux32: 0,
  linux64: 0,
  nsenter: 0,
  pkexec: 0,
  setarch: 1,
  valgrind: 0,
  npx: 0,
  bunx: 0,
  pnpx: 0,
  taskset: 1,
  chrt: 1,
  unbuffer: 0,
};
const WRAPPER_VALUES = /^-(?:[uUgnkspCcohTSDrE]|-(?:user|group|signal|kill-after|adjustment))$/;

const MAX_WRAPPERS = 16;

/** Strips assignments and wrappers from the front; "unreadable" when the program's name depends on expansion. */
export function unwrap(words: readonly Word[]): readonly Word[] | "unreadable" {
  let at = 0;
  for (let i = 0; i < MAX_WRAPPERS; i += 1) {
    while (at < words.length && /^[A-Za-z_]\w*\+?=/.test(words[at]!.text)) at += 1;
    const program = words[at];
    if (program === undefined) return [];
    if (program.dynamic) return "unreadable";
    const keeps = rowOf(WRAPPERS, baseName(program.text));
    if (keeps === undefined) return words.slice(at);
    // Its value is a command line of its own.
    if (baseName(program.text) === "env" && has(words.slice(at), /^(?:-[a-zA-Z0-9]*S|--split-string)/))
      return "unreadable";
    if (program.text === "command" && /^-[vV]$/.test(words[at + 1]?.text ?? "")) return [];
    at = afterOptions(words, at + 1) + keeps;
  }
  return "unreadable";
}

/** Where the operands begin. */
function afterOptions(words: readonly Word[], from: number): number {
  let at = from;
  while (at < words.length && words[at]!.text.startsWith("-")) {
    if (words[at]!.text === "--") return at + 1;
    at += WRAPPER_VALUES.test(words[at]!.text) ? 2 : 1;
  }
  return at;
}
