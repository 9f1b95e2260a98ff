// Programs that run code given as text: what they do to files depends on the text.
import { echoedText, type SimpleCommand, type Word } from "./shell-parse.js";
import { has, PROGRAMS, plain, type ShellWrite, write } from "./shell-programs.js";

const INTERPRETERS: Readonly<Record<string, RegExp>> = {
  python: /^-[a-zA-Z]*c$/,
  python3: /^-[a-zA-Z]*c$/,
  python2: /^-[a-zA-Z]*c$/,
  pypy3: /^-c$/,
  node: /^(?:-[ep]|-pe|--eval|--print)$/,
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
  tclsh: /^$/,
  expect: /^-c$/,
  jshell: /^$/,
  ghci: /^$/,
  psql: /^-c$/,
};

// Names a program text must use to change files or start another program. Long but honest: what is not here is unseen.
const WRITE_API =
  /open\s*\([^)]*["'][^"'r]*[wax+]|\bopen\s*\(?[^;]*["']?\s*>|write_?(?:text|bytes|file|lines)|writeFile|appendFile|createWriteStream|openSync|writeSync|write\(|unlink|rename|remove|rmtree|rmdir|mkdir|makedirs|truncate|symlink|copy(?:file|tree|Sync|_file)|cpSync|\bcp\(|\brm\(|rmSync|touch|chmod|chown|shutil|File\.(?:open|write|delete|new|rename)|FileUtils|IO\.(?:write|popen|binwrite)|file_put_contents|fopen|fwrite|\bsystem\s*\(|\bpopen|subprocess|child_process|spawn|execSync|\bexec\s*\(|os\.(?:exec|open|system|pwrite|write)|ctypes|b64decode|base64|fromCharCode|Deno\.|Bun\.write|COPY\b[\s\S]*\bTO\b|print\s*>|`|\|\s*getline/i;

export function interpreterWrites(
  name: string,
  args: readonly Word[],
  command: SimpleCommand,
  before: SimpleCommand | null,
): ShellWrite[] | null {
  const flag = INTERPRETERS[name.replace(/^(python|perl|ruby|lua|php)[\d.]+$/, "$1")];
  if (flag === undefined) return null;
  if (/^(?:perl|ruby)/.test(name) && has(args, /^-[a-hj-zA-Z0-9]*i/)) return [write(`${name} -i`, null)];
  if (/awk$/.test(name)) return awkWrites(name, args);
  const at = args.findIndex(({ text }) => flag.test(text));
  const code = at >= 0 ? args[at + 1] : undefined;
  if (code !== undefined) return judgeCode(name, code.text, code.dynamic);
  if (command.input !== null) return judgeCode(name, command.input, false);
  if (before !== null && plain(args).every(({ text }) => text === "-")) {
    const echoed = echoedText(before);
    return echoed === null ? [write(`text piped into ${name}`, null)] : judgeCode(name, echoed, false);
  }
  // `deno`, `bun` and friends are also package managers and runners.
  return PROGRAMS[name]?.(args) ?? [];
}

function judgeCode(name: string, code: string, dynamic: boolean): ShellWrite[] {
  return dynamic || WRITE_API.test(code) ? [write(`${name} code that writes`, null)] : [];
}

function awkWrites(name: string, args: readonly Word[]): ShellWrite[] {
  if (args.some(({ text }, i) => text === "-i" && args[i + 1]?.text === "inplace"))
    return [write(`${name} -i inplace`, null)];
  const script = plain(args)[0];
  return script !== undefined && /(?:print[^;}]*>|\bsystem\s*\(|\|\s*(?:getline|"))/.test(script.text)
    ? [write(`${name} output to a file`, null)]
    : [];
}
