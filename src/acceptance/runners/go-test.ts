// go test, by its JSON events. Packages are named as Go names them, for it tells no files.
import { posix } from "node:path";
import type { TestResult } from "../model.js";
import { declaredTests } from "./declared.js";
import { jsonLines } from "./json-lines.js";
import { type Declared, skipped, testId, testsOutcome } from "./outcomes.js";
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
    reading: { tree: room.tree, cwd: module, declared: goDeclared(declaredTests(recognised, view)), read: readGoTest },
  };
};

const plainFolder = (path: string): string => (posix.dirname(path) === "." ? "" : posix.dirname(path));

/** The nearest folder above that holds a file; the root when none does. */
export function folderWith(view: TreeView, folder: string, name: string): string {
  for (let at = folder; at !== "" && at !== "."; at = plainFolder(at)) if (view.exists(joined(at, name))) return at;
  return "";
}

/** Under whichever package. */
const goDeclared = (declared: readonly Declared[]): Declared[] =>
  declared.map((each) => ({ ...each, id: `\0${each.id.slice(each.id.indexOf(" > "))}` }));

interface Event {
  readonly Action?: string;
  readonly Package?: string;
  readonly Test?: string;
  readonly Output?: string;
}

const readGoTest: ReadRun = (check, { reading }, result) => {
  const tests: TestResult[] = [];
  const panicked = new Set<string>();
  let broken: string | null = null;
  for (const event of jsonLines<Event>(Buffer.from(result.stdout.text))) {
    const { Action: action, Package: name = "", Test: test, Output: output = "" } = event;
    const id = testId(name, [test ?? ""]);
    if (/^panic:|^fatal error:|^\tpanic:/.test(output)) panicked.add(id);
    if (/\[(?:build|setup) failed\]/.test(output)) broken = `${name} could not be built`;
    if (test === undefined) continue;
    if (action === "pass") tests.push({ id, status: "passed" });
    else if (action === "skip") tests.push({ id, status: "skipped" });
    else if (action === "fail") tests.push({ id, status: "failed", assertion: !panicked.has(id) });
  }
  return testsOutcome(check, result, { tests, broken }, reading.declared ?? []);
};
