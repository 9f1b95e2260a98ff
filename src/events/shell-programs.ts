// What programs do to files, as a table: program → the writes its arguments ask for.
import { gitWrites } from "./shell-git.js";
import { literal, type Word } from "./shell-parse.js";
import { sedWrites } from "./shell-sed.js";

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
  "sh bash zsh dash ksh mksh ash fish rbash tcsh csh nu elvish xonsh pwsh powershell yash posh osh su runuser script".split(
    " ",
  ),
);

/** What a program writes when it is given these words. */
export type WritesOf = (args: readonly Word[]) => ShellWrite[];

/** A row of a table by a name from a command line, and nothing an object inherits. */
export function rowOf<Row>(table: Readonly<Record<string, Row>>, name: string): Row | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** `/usr/bin/tee` is tee, `bash5.2` is bash. */
export const baseName = (program: string): string =>
  program.slice(program.lastIndexOf("/") + 1).replace(/^((?:ba|z|k|da)sh)[-\d.]+$/, "$1");

/** Operands: what is no option, and everything behind `--`. */
export function plain(args: readonly Word[]): Word[] {
  const end = args.findIndex(({ text }) => text === "--");
  const before = (end < 0 ? args : args.slice(0, end)).filter(({ text }) => !text.startsWith("-"));
  return end < 0 ? before : [...before, ...args.slice(end + 1)];
}
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
      const value = match.slice(1).find((part) => part !== undefined && part !== "") ?? literal(args[i + 1]);
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
  sync: "tool",
  download: "tool",
  wheel: "tool",
  pkg: "tool",
  shrinkwrap: "tool",
  rebuild: "tool",
});
const editor = always("an editor");
const sevenZip = verbs("7z", { x: "direct", e: "direct", a: "direct" });
/** Headers, cookies, traces and settings that name files, besides the body. */
const CURL_OUTPUT =
  /^(?:-[#0-9aBfgGiIjJklLMnNpqRsSvVZ]*[oODcK](.*)|--(?:output(?:-dir)?|remote-name(?:-all)?|dump-header|cookie-jar|trace(?:-ascii)?|stderr|libcurl|etag-save|hsts|alt-svc|config)(?:=(.*))?|.*%output\{.*)$/;
/** Compilers, converters and others that write where `-o` says. */
const OUT =
  "gcc cc g++ c++ clang clang++ ld as nasm yasm rustc javac pandoc gpg gpg2 age uudecode xmllint tidy dot lcov http https xh ncat mongodump gs pv objcopy ghc ocamlopt swiftc kotlinc dart".split(
    " ",
  );
/** They change the files they are given, or write beside them. */
const CHANGES =
  "strip ranlib patchelf chrpath indent astyle mmv prename vidir recode attr xattr dpkg-deb zipnote zipsplit gzexe mkswap debugfs sudoedit m4 scalar ssh-keygen convert magick ffmpeg sox start-stop-daemon run-parts".split(
    " ",
  );
/** Code of a language that is not read here: whatever it does, it may write. */
const UNREAD: Readonly<Record<string, RegExp>> = {
  guile: /^-c/,
  ghc: /^-e/,
  elixir: /^(?:-e|--eval)/,
  iex: /^(?:-e|--eval)/,
  erl: /^-(?:eval|s|run)$/,
  clojure: /^-e/,
  clj: /^-e/,
  bb: /^-e/,
  scala: /^-e/,
  groovy: /^-e/,
  kotlin: /^-e/,
  swift: /^-e/,
  crystal: /^eval$/,
  racket: /^-e/,
  sbcl: /^--eval/,
  clisp: /^-x/,
  ecl: /^-eval/,
  gforth: /^-e/,
  swipl: /^-[gt]/,
  octave: /^--eval/,
  R: /^-e/,
  gnuplot: /^-e/,
  mysql: /^(?:-[a-zA-Z]*e|--execute)/,
  duckdb: /^-c/,
  mongo: /^--eval/,
  mongosh: /^--eval/,
};

const rows = (names: readonly string[], row: (name: string) => WritesOf): Record<string, WritesOf> =>
  Object.fromEntries(names.map((name) => [name, row(name)]));

export const PROGRAMS: Readonly<Record<string, WritesOf>> = {
  ...rows(OUT, (name) => flagged(`${name} -o`, /^(?:-o(.*)|--out(?:put|file)?(?:=(.*))?)$/)),
  ...rows(CHANGES, (name) => always(name)),
  ...rows(Object.keys(UNREAD), (name) => flagged(`${name} code`, UNREAD[name]!, "tool")),
  ...rows(["pigz", "pbzip2", "lzma", "compress", "uncompress", "brotli", "lz4", "lzop"], unlessStdout),
  ...rows(
    ["Set-Content", "Add-Content", "Out-File", "New-Item", "Remove-Item", "Copy-Item", "Move-Item", "Rename-Item"],
    (name) => always(name),
  ),
  ...rows(["yapf", "autopep8", "autoflake", "gofumpt", "goimports", "shfmt"], (name) =>
    flagged(`${name} -i`, /^(?:-[iw]|--in-place|--write)$/, "tool"),
  ),
  ...rows(["view", "rvim", "vimdiff", "gvim", "micro", "kak", "hx"], () => always("an editor")),
  esbuild: flagged("esbuild --outfile", /^--out(?:file|dir)(?:=(.*))?$/),
  psql: flagged("psql -o", /^(?:-[oL](.*)|--(?:output|log-file)(?:=(.*))?)$/),
  pg_dump: flagged("pg_dump -f", /^(?:-f(.*)|--file(?:=(.*))?)$/),
  history: flagged("history -w", /^-[wa]$/),
  fc: flagged("fc -e", /^-e/),
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
  sed: (args) => sedWrites(args),
  gsed: (args) => sedWrites(args),
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
  "7z": sevenZip,
  "7za": sevenZip,
  "7zr": sevenZip,
  unrar: sevenZip,
  unar: always("unar"),
  pax: flagged("pax", /^-[a-z]*[rw]/),
  jar: archives,
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
  curl: flagged("curl -o", CURL_OUTPUT),
  wget: (args) => {
    const shows = args.some(
      ({ text }, i) => text === "-O-" || text === "-qO-" || (/^-q?O$/.test(text) && args[i + 1]?.text === "-"),
    );
    const keeps = has(args, /^(?:-[oaeP]|--(?:output-file|append-output|save-cookies|execute|use-askpass|config))/);
    return shows && !keeps ? [] : [write("wget", null)];
  },
  split: always("split"),
  csplit: always("csplit"),
  sort: flagged("sort -o", /^(?:-[bdfghimMnRrsuVz]*o(.*)|--output(?:=(.*))?|--compress-program.*)$/),
  uniq: (args) =>
    args
      .filter(({ text }) => text === "-" || !text.startsWith("-"))
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
  go: (args) => [
    ...verbs("go", { fmt: "tool", get: "tool", mod: "tool", generate: "tool", fix: "tool" })(args),
    ...flagged("go -o", /^-(?:o|coverprofile|cpuprofile|memprofile|trace|outputdir)(?:=(.*))?$/)(args),
  ],
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
      (/^-?[a-zA-Z]+$/.test(text) && /[xcru]/.test(text)) ||
      /^--(?:extract|get|create|append|update|to-command|checkpoint-action|use-compress-program|info-script|delete)/.test(
        text,
      ) ||
      /^-[a-zA-Z]*[IF]$/.test(text),
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
