// go test, by its JSON events. Packages are named as Go names them, for it tells no files.
import { posix } from "node:path";
import type { TestResult } from "../model.js";
import { declaredTests } from "./declared.js";
import { jsonLines } from "./json-lines.js";
import { type Declared, ID_SEPARATOR, skipped, testId, testsOutcome } from "./outcomes.js";
import type { Prepare } from "./prepare.js";
import { joined } from "./recognise.js";
import type { ReadRun, TreeView } from "./runner.js";
import { plainPath } from "./script.js";

/** The report travels on standard output. */
const REPORT_BYTES = 64 * 1024 * 1024;

export const prepareGoTest: Prepare = async ({ view, room, recognised }) => {
  if (!(await room.answers("go", ["version"]))) return skipped("go is not installed");
  const { target, cwd } = recognised;
  const script = target === null ? null : plainPath(target, view);
  if (script !== null && typeof script !== "string") return script;
  const folder = script === null ? cwd : view.read(script) === null ? script : plainFolder(script);
  const module = script === null ? cwd : folderWith(view, folder, "go.mod");
  const where =
    script === null
      ? recognised.args.length > 0
        ? recognised.args
        : ["./..."]
      : [`./${posix.relative(module, folder) || "."}`];
  return {
    command: "go",
    args: ["test", "-json", "-count=1", ...where],
    cwd: module,
    maxOutputBytes: REPORT_BYTES,
    reportFiles: [],
    forgeable: true,
    reading: {
      tree: room.tree,
      cwd: module,
      declared: goDeclared(declaredTests(recognised, view), module, view),
      read: readGoTest,
    },
  };
};

const plainFolder = (path: string): string => (posix.dirname(path) === "." ? "" : posix.dirname(path));

/** The nearest folder above that holds a file; the root when none does. */
export function folderWith(view: TreeView, folder: string, name: string): string {
  for (let at = folder; at !== "" && at !== "."; at = plainFolder(at)) if (view.exists(joined(at, name))) return at;
  return "";
}

/** How a go.mod calls its module; null when there is none. */
export const moduleName = (text: string | null): string | null =>
  /^module[ \t]+"?([^\s"]+)/m.exec(text ?? "")?.[1] ?? null;

/** Under the package that Go makes of its folder; under whichever, where the module has no name. */
function goDeclared(declared: readonly Declared[], module: string, view: TreeView): Declared[] {
  const name = moduleName(view.read(joined(module, "go.mod")));
  return declared.map((each) => {
    const at = each.id.indexOf(ID_SEPARATOR);
    const file = each.id.slice(0, at);
    const folder = posix.relative(module, posix.dirname(file));
    const own = name === null || folder.startsWith("..") ? "\0" : posix.join(name, folder);
    const left = mayBeLeftOut(file, view) ? { sure: false, inFile: false } : {};
    return { ...each, ...left, id: `${own}${each.id.slice(at)}` };
  });
}

/** Files that only some builds hold, by their name or their first lines. */
const mayBeLeftOut = (file: string, view: TreeView): boolean =>
  /(?:^|\/)[_.][^/]*$|_(?:aix|android|darwin|dragonfly|freebsd|illumos|ios|js|linux|netbsd|openbsd|plan9|solaris|wasip1|windows|386|amd64|arm|arm64|loong64|mips\w*|ppc64\w*|riscv64|s390x|wasm)_test\.go$/.test(
    file,
  ) || /^\/\/(?:go:build|\s*\+build)\s/m.test(view.read(file) ?? "");

interface Event {
  readonly Action?: string;
  readonly Package?: string;
  readonly Test?: string;
  readonly Output?: string;
}

/** Said outside of the report by older Gos. */
const NOT_BUILT = /^FAIL\t(\S+) \[(?:build|setup) failed\]$/gm;

const readGoTest: ReadRun = (check, { reading }, result) => {
  const tests: TestResult[] = [];
  const panicked = new Set<string>();
  const opened = [...result.stdout.text.matchAll(NOT_BUILT)].map(([, name]) => name!);
  let broken: string | null = null;
  for (const event of jsonLines<Event>(Buffer.from(result.stdout.text))) {
    const { Action: action, Package: name = "", Test: test, Output: output = "" } = event;
    const id = testId(name, [test ?? ""]);
    if (/^panic:|^fatal error:|^\tpanic:/.test(output)) panicked.add(id);
    if (/\[(?:build|setup) failed\]/.test(output)) broken = `${name} could not be built`;
    if (test === undefined) {
      if (action === "pass" || action === "fail") opened.push(name);
      continue;
    }
    if (action === "pass") tests.push({ id, status: "passed" });
    else if (action === "skip") tests.push({ id, status: "skipped" });
    else if (action === "fail") tests.push({ id, status: "failed", assertion: !panicked.has(id) });
  }
  return testsOutcome(check, result, { tests, broken, opened }, reading.declared ?? []);
};
