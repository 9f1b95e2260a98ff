// Small programs around a plain script. Each reads a nonce from standard input, so that it is in no argument and no
// environment, runs the script as it would run by itself, and writes the nonce to the report when the end is reached.

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function shellAround(run: string, report: string): string {
  const say = (how: string) => `printf '%s ${how}\\n' "$nutshell_nonce" >|${quoted(report)}`;
  return [
    "IFS= read -r nutshell_nonce",
    "exec </dev/null",
    `nutshell_left() { [ -n "\${nutshell_done-}" ] || ${say("exit")}; }`,
    "trap nutshell_left EXIT",
    run,
    "nutshell_code=$?",
    "nutshell_done=1",
    say("end"),
    'exit "$nutshell_code"',
  ].join("\n");
}

/** For `sh -c WRAPPER script`: sourced, so that `$0` and BASH_SOURCE are the script's. */
export const shellScriptWrapper = (report: string): string => shellAround('. "$0"', report);

/** For `sh -c WRAPPER sh command`. */
export const shellCommandWrapper = (report: string): string =>
  shellAround('nutshell_run=$1; shift; eval "$nutshell_run"', report);

/** For `node --import URL script`. Checkers speak for the test as it does itself. `process.exit` counts as the end only when the tests themselves call it. */
export function nodeWrapper(script: string, tree: string, report: string, checkers: readonly string[] = []): string {
  const source = `import { readFileSync, readSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { isMainThread } from "node:worker_threads";
const [script, tree, report, checkers] = ${JSON.stringify([script, tree, report, checkers])};
const input = Buffer.alloc(256);
let size = 0;
try { if (isMainThread) size = readSync(0, input, 0, 256, null); } catch {}
const nonce = input.toString("utf8", 0, size).trim();
const folder = dirname(script);
const pathOf = (line) => /(?:file:\\/\\/)?(\\/[^:()]+):\\d+:\\d+\\)?$/.exec(line ?? "")?.[1] ?? "";
const frames = (stack) => String(stack).split("\\n").filter((line) => /^ *at /.test(line)).map(pathOf);
const isOwn = (path) => path === script || checkers.includes(path) || !path.startsWith(tree + "/") || path.includes("/node_modules/") || (folder !== tree && path.startsWith(folder + "/"));
const { ownKeys, getOwnPropertyDescriptor: look } = Reflect;
const language = [Math, JSON, Object, Array, Number, String, Array.prototype, String.prototype, Number.prototype, Map.prototype, Set.prototype];
const parts = language.map((holder) => [holder, ownKeys(holder).map((key) => [key, look(holder, key)?.value])]);
let own = "";
try { own = readFileSync(script, "utf8"); } catch {}
const isBent = () => {
  for (const [holder, values] of parts) {
    for (const [key, value] of values) {
      if (typeof key === "string" && typeof value === "function" && look(holder, key)?.value !== value && !own.includes("." + key + " =") && !own.includes('"' + key + '"')) return true;
    }
  }
  return false;
};
let how = "left";
let raised = "-";
if (nonce !== "") {
  const exit = process.exit;
  process.exit = (code) => {
    const [caller = ""] = frames(new Error().stack).filter((path) => path !== "");
    how = isOwn(caller) ? "own" : "foreign";
    return exit.call(process, code);
  };
  process.on("beforeExit", () => { how = "end"; });
  process.on("uncaughtExceptionMonitor", (error) => {
    const [at = ""] = frames(error?.stack);
    raised = error?.code === "ERR_ASSERTION" || error?.name === "AssertionError" || (error?.name === "Error" && (at === script || checkers.includes(at))) ? "assertion" : "error";
  });
  process.on("exit", (code) => writeFileSync(report, [nonce, isBent() ? "bent" : how, code, raised].join(" ") + "\\n"));
}`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
}

/** For `python3 -c WRAPPER script tree report checker…`. */
export const PYTHON_WRAPPER = `
import sys
del sys.path[0]
def run():
    import builtins, os, runpy, traceback
    language = dict(vars(builtins))
    script, tree, report = sys.argv[1:4]
    checkers = [os.path.realpath(path) for path in sys.argv[4:]]
    nonce = os.read(0, 256).decode().strip()
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    sys.argv[:] = [script]
    sys.path.insert(0, os.path.dirname(script))
    here, tree = os.path.realpath(script), os.path.realpath(tree)
    folder = os.path.dirname(here)
    def files(error):
        found = []
        trace = error.__traceback__
        while trace is not None:
            name = trace.tb_frame.f_code.co_filename
            found.append(name if name.startswith("<") else os.path.realpath(name))
            trace = trace.tb_next
        return found
    def own(path):
        return path == here or path in checkers or not path.startswith(tree + "/") or "/site-packages/" in path or (folder != tree and path.startswith(folder + "/"))
    how, code, raised = "end", 0, "-"
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as error:
        how = "own" if all(own(path) for path in files(error)) else "foreign"
        value = error.code
        if value is None:
            code = 0
        elif isinstance(value, int):
            code = int(value) & 255
        else:
            print(value, file=sys.stderr)
            code = 1
    except BaseException as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename != script:
            trace = trace.tb_next
        traceback.print_exception(type(error), error, trace or error.__traceback__)
        where = (files(error) or [""])[-1]
        plain = isinstance(error, Exception) and not isinstance(error, (ImportError, SyntaxError, NameError, AttributeError, TypeError))
        raised = "assertion" if isinstance(error, AssertionError) or (plain and (where == here or where in checkers)) else "error"
        how, code = "raised", 1
    if how != "raised" and any(vars(builtins).get(name) is not part for name, part in language.items() if name != "_"):
        how = "bent"
    with language["open"](report, "w") as file:
        file.write(" ".join([nonce, how, str(code), raised]) + "\\n")
    return code
sys.exit(run())
`;
