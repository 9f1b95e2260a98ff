// Programs that run code given as text: what they do to files depends on the text.
import { echoedText, type SimpleCommand, type Word } from "./shell-parse.js";
import { has, oneLine, PROGRAMS, plain, rowOf, type ShellWrite, write } from "./shell-programs.js";

const INTERPRETERS: Readonly<Record<string, RegExp>> = {
  python: /^-[a-zA-Z]*c$/,
  python3: /^-[a-zA-Z]*c$/,
  python2: /^-[a-zA-Z]*c$/,
  pypy3: /^-c$/,
  node: /^(?:-[ep]|-pe|--eval|--print)(?:=|$)/,
  nodejs: /^-[ep]$/,
  deno: /^eval$/,
  bun: /^(?:-e|--eval)$/,
  tsx: /^(?:-e|--eval)$/,
  perl: /^-[a-zA-Z]*[eE]$/,
  ruby: /^-[a-zA-Z]*e$/,
  php: /^-r$/,
  lua: /^-e$/,
  awk: /^$/,
  gawk: /^$/,
  mawk: /^$/,
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
  /write_?(?:text|bytes|file|lines)|writeFile|appendFile|createWriteStream|openSync|writeSync|write\(|unlink|rename|remove|rmtree|rmdir|mkdir|makedirs|truncate|symlink|copy(?:file|tree|Sync|_file)|cpSync|\bcp\(|\brm\(|rmSync|touch|chmod|chown|shutil|File\.(?:open|write|delete|new|rename)|FileUtils|IO\.(?:write|popen|binwrite)|file_put_contents|file\.create|fopen|fwrite|\bsystem ?\(|\bpopen|subprocess|child_process|spawn|execSync|\bexec ?\(|os\.(?:exec|open|system|pwrite|write)|ctypes|b64decode|base64|fromCharCode|Deno\.|Bun\.write|print ?>|`|\| ?getline/i;
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
  const given = at >= 0 ? /^--\w+=/.exec(args[at]!.text) : null;
  const code = given === null ? (at >= 0 ? args[at + 1] : undefined) : afterSign(args[at]!, given[0].length);
  if (code !== undefined) return codeWrites(name, code.text, code.dynamic);
  if (command.input !== null) return codeWrites(name, command.input, false);
  if (before !== null && plain(args).every(({ text }) => text === "-")) {
    const echoed = echoedText(before);
    return echoed === null ? [write(`text piped into ${name}`, null)] : codeWrites(name, echoed, false);
  }
  // `deno`, `bun` and friends are also package managers and runners.
  return rowOf(PROGRAMS, name)?.(args) ?? [];
}

const afterSign = ({ text, dynamic }: Word, from: number): Word => ({ text: text.slice(from), dynamic });

function codeWrites(name: string, code: string, dynamic: boolean): ShellWrite[] {
  const line = oneLine(code);
  const writes = dynamic || WRITE_API.test(line) || opensToWrite(line) || (name === "psql" && copiesOut(line));
  return writes ? [write(`${name} code that writes`, null)] : [];
}

/** `open` with a mode that writes, or with the `>` of Perl behind it in the same statement. */
function opensToWrite(code: string): boolean {
  if (!/\bopen\b/i.test(code)) return false;
  return WRITE_MODE.test(code) || code.split(";").some((statement) => follows(statement, /\bopen\b/i, ">"));
}

/** psql's COPY … TO writes a file. */
function copiesOut(code: string): boolean {
  const at = code.search(/\bCOPY\b/i);
  return at >= 0 && /\bTO\b/i.test(code.slice(at));
}

function awkWrites(name: string, args: readonly Word[]): ShellWrite[] {
  if (args.some(({ text }, i) => text === "-i" && args[i + 1]?.text === "inplace"))
    return [write(`${name} -i inplace`, null)];
  const script = oneLine(plain(args)[0]?.text ?? "");
  const prints = script.split(/[;}]/).some((statement) => follows(statement, /print/, ">"));
  return prints || /\bsystem ?\(|\| ?(?:getline|")/.test(script) ? [write(`${name} output to a file`, null)] : [];
}

function follows(text: string, word: RegExp, sign: string): boolean {
  const at = text.search(word);
  return at >= 0 && text.includes(sign, at);
}
