// Programs that run code given as text: what they do to files depends on the text.
import { echoedText, type SimpleCommand, type Word } from "./shell-parse.js";
import { has, oneLine, PROGRAMS, plain, rowOf, type ShellWrite, write } from "./shell-programs.js";

const INTERPRETERS: Readonly<Record<string, RegExp>> = {
  python: /^-[bBdEhiIOPqRsSuvx]*c([\s\S]*)$/,
  python3: /^-[bBdEhiIOPqRsSuvx]*c([\s\S]*)$/,
  python2: /^-[bBdEhiIOPqRsSuvx]*c([\s\S]*)$/,
  pypy3: /^-c([\s\S]*)$/,
  node: /^(?:-[ep]|-pe|--eval|--print)(?:=|$)/,
  nodejs: /^-[ep]$/,
  deno: /^eval$/,
  bun: /^(?:-e|--eval)$/,
  tsx: /^(?:-e|--eval)$/,
  perl: /^-[acdflnpstTuUvwWX0-7]*[eE]([\s\S]*)$/,
  ruby: /^-[acdlnpswyS0-7]*e([\s\S]*)$/,
  php: /^-r([\s\S]*)$/,
  lua: /^-e([\s\S]*)$/,
  luajit: /^-e([\s\S]*)$/,
  awk: /^$/,
  gawk: /^$/,
  mawk: /^$/,
  nawk: /^$/,
  "original-awk": /^$/,
  goawk: /^$/,
  osascript: /^-e$/,
  Rscript: /^-e$/,
  julia: /^-[eE]$/,
  tclsh: /^$/,
  expect: /^-c$/,
  jshell: /^$/,
  ghci: /^$/,
  psql: /^-c$/,
};

// Names a program text must use to change files or start another program. Long but honest: what is not here is unseen.
// Fixed words and at most one blank between them: a pattern that runs over text of any length could be made to run for ever.
const WRITE_API =
  /write_?(?:text|bytes|file|lines)|writeFile|appendFile|createWriteStream|openSync|writeSync|write\(|unlink|rename|remove|rmtree|rmdir|mkdir|makedirs|truncate|symlink|copy(?:file|tree|Sync|_file)|cpSync|\bcp\(|\brm\(|rmSync|touch|chmod|chown|shutil|File\.(?:open|write|delete|new|rename)|FileUtils|IO\.(?:write|popen|binwrite)|file_put_contents|file\.create|mknod|\blink(?:Sync)? ?[("']|utimes?|\[["']\w+["'] ?\+|FileIO|FileHandler|extractall|mkstemp|mkdtemp|urlretrieve|sqlite3\.connect|run_path|SplFileObject|copy_stream|\bcopy ?\(["'$]|sysopen|writeReport|writeHeapSnapshot|process\.binding|io\.output|\.write ["'\w]|__dict__|getattr ?\(os|\beval\b|\batob\b|fromhex|fopen|fwrite|\bsystem ?\(|\bpopen|subprocess|child_process|spawn|execSync|\bexec ?\(|os\.(?:exec|open|system|pwrite|write)|ctypes|b64decode|base64|fromCharCode|Deno\.|Bun\.write|print ?>|`|\| ?getline/i;
/** A text that can only be meant as the mode of a file: 'w', "ab", 'r+'. */
const WRITE_MODE = /["'][rbtU]{0,3}[wax+][rwabxtU+]{0,3}["']/;

export function interpreterWrites(
  name: string,
  args: readonly Word[],
  command: SimpleCommand,
  before: SimpleCommand | null,
): ShellWrite[] | null {
  const flag = rowOf(INTERPRETERS, /^(python|perl|ruby|lua|php)[\d.]+$/.exec(name)?.[1] ?? name);
  if (flag === undefined) return null;
  if (/^(?:perl|ruby)/.test(name) && has(args, /^-[a-hj-zA-Z0-9]*i/)) return [write(`${name} -i`, null)];
  if (name.endsWith("awk")) return awkWrites(name, args);
  const at = args.findIndex(({ text }) => flag.test(text));
  const module = moduleWrites(name, at < 0 ? args : args.slice(0, at), args);
  if (module !== null) return module;
  const code = at >= 0 ? codeAt(args, at, flag) : undefined;
  if (code !== undefined)
    return [...codeWrites(name, code.text, code.dynamic), ...(rowOf(PROGRAMS, name)?.(args) ?? [])];
  if (command.input !== null) return codeWrites(name, command.input, false);
  if (before !== null && plain(args).every(({ text }) => text === "-")) {
    const echoed = echoedText(before);
    return echoed === null ? [write(`text piped into ${name}`, null)] : codeWrites(name, echoed, false);
  }
  // `deno`, `bun` and friends are also package managers and runners.
  return rowOf(PROGRAMS, name)?.(args) ?? [];
}

/** Behind a sign, in the same word as the flag, or the word after it. */
function codeAt(args: readonly Word[], at: number, flag: RegExp): Word | undefined {
  const { text, dynamic } = args[at]!;
  const sign = /^--\w+=/.exec(text)?.[0] ?? "";
  const glued = sign === "" ? (flag.exec(text)?.[1] ?? "") : text.slice(sign.length);
  return glued === "" && sign === "" ? args[at + 1] : { text: glued, dynamic };
}

/** `python3 -m black` is black; some modules of its own write, too. */
function moduleWrites(name: string, front: readonly Word[], args: readonly Word[]): ShellWrite[] | null {
  if (!/^(?:python|pypy)/.test(name)) return null;
  const at = front.findIndex(({ text }) => /^-[bBdEiIOPqRsSuvx]*m/.test(text));
  if (at < 0) return null;
  const glued = args[at]!.text.replace(/^-\w*?m/, "");
  const rest = args.slice(glued === "" ? at + 2 : at + 1);
  const module = glued === "" ? (args[at + 1]?.text ?? "") : glued;
  if (MODULES.test(module)) return [write(`${name} -m ${module}`, null, "tool")];
  if (/^(?:zipfile|tarfile)$/.test(module)) {
    return has(rest, /^-(?:[ec]|-(?:extract|create))/) ? [write(`${name} -m ${module}`, null)] : [];
  }
  return rowOf(PROGRAMS, module)?.(rest) ?? null;
}
const MODULES =
  /^(?:venv|ensurepip|compileall|py_compile|gzip|lib2to3|zipapp|idlelib|virtualenv|cProfile|trace|pdb)(?:\.|$)/;

function codeWrites(name: string, code: string, dynamic: boolean): ShellWrite[] {
  const line = oneLine(code);
  const writes = dynamic || WRITE_API.test(line) || opensToWrite(line) || (name === "psql" && copiesOut(line));
  return writes ? [write(`${name} code that writes`, null)] : [];
}

/** `open` with a mode that writes, or with the `>` of Perl behind it in the same statement. */
function opensToWrite(code: string): boolean {
  if (!/\bopen\b/i.test(code)) return false;
  return WRITE_MODE.test(code) || code.split(";").some((statement) => follows(statement, /\bopen\b/i, />/));
}

/** psql's COPY … TO writes a file. */
function copiesOut(code: string): boolean {
  const at = code.search(/\bCOPY\b/i);
  return at >= 0 && /\bTO\b/i.test(code.slice(at));
}

function awkWrites(name: string, args: readonly Word[]): ShellWrite[] {
  if (args.some(({ text }, i) => text === "-i" && args[i + 1]?.text === "inplace"))
    return [write(`${name} -i inplace`, null)];
  if (has(args, /^-(?:[odpDl]|-(?:profile|dump-variables|pretty-print|debug|load))/))
    return [write(`${name} option`, null)];
  // Options have values, and which word is the program cannot be told by its place alone.
  const writes = args.some(({ text }) => {
    const script = oneLine(text);
    const prints = script.split(/[;}]/).some((statement) => follows(statement.replaceAll("||", ""), /print/, /[>|]/));
    return prints || /\bsystem ?\(|\| ?(?:getline|")|@(?:load|include)\b/.test(script);
  });
  return writes ? [write(`${name} output to a file`, null)] : [];
}

function follows(text: string, word: RegExp, sign: RegExp): boolean {
  const at = text.search(word);
  return at >= 0 && sign.test(text.slice(at));
}
