// pytest, by the XML it writes. The settings in the tree are the base's, so they count.
import { posix } from "node:path";
import type { TestResult } from "../model.js";
import { declaredTests, testsShareProcess } from "./declared.js";
import { failed, fromTree, skipped, testId, testsOutcome } from "./outcomes.js";
import type { Prepare } from "./prepare.js";
import type { ReadRun } from "./runner.js";
import { plainPath } from "./script.js";
import { isAssertionCase, readXmlCases, type XmlCase } from "./xml.js";

export const preparePytest: Prepare = async ({ view, room, recognised }) => {
  const { target, args, cwd } = recognised;
  const script = target === null ? null : plainPath(target, view);
  if (script !== null && typeof script !== "string") return script;
  const report = `${room.reports}/pytest.xml`;
  const options = [
    ...(script === null ? args : ["-q", script]),
    "-p",
    "no:cacheprovider",
    `--rootdir=${room.tree}`,
    `--junitxml=${report}`,
    "-o",
    "junit_family=xunit1",
  ];
  const run = {
    cwd,
    reportFiles: [report],
    forgeable: testsShareProcess(recognised, view),
    reading: { tree: room.tree, cwd, declared: declaredTests(recognised, view), read: readPytest },
  };
  const module = ["-m", "pytest"];
  if (recognised.fromHere && (await room.answers("python3", [...module, "--version"])))
    return { ...run, command: "python3", args: ["-c", FROM_HERE, ...options] };
  if (await room.answers("pytest", ["--version"])) return { ...run, command: "pytest", args: options };
  if (await room.answers("python3", [...module, "--version"]))
    return { ...run, command: "python3", args: [...module, ...options] };
  return skipped("pytest is not installed");
};

/**
 * `python3 -m pytest`, with the folder on the path only once pytest and its own plug-ins are loaded: a module of the work that
 * is called like one of theirs comes too late.
 */
const FROM_HERE = `
import os, sys
here = os.getcwd()
sys.path[:] = [each for each in sys.path if each not in ("", here)]
import pytest
class FromHere:
    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self):
        sys.path.insert(0, here)
raise SystemExit(pytest.main(sys.argv[1:], plugins=[FromHere()]))
`;

const NO_TESTS_COLLECTED = 5;

const readPytest: ReadRun = (check, { reading, reportFiles }, result, reports) => {
  const bytes = reports.get(reportFiles[0]!);
  const cases = bytes === undefined ? [] : readXmlCases(Buffer.from(bytes).toString("utf8"));
  const unloaded = cases.filter(({ status, message }) => status === "error" && message.includes("collection failure"));
  const [loading] = unloaded;
  const broken =
    bytes === undefined
      ? "no report was written"
      : loading === undefined
        ? null
        : `${loading.className || loading.name} could not be loaded`;
  const outcome = testsOutcome(
    check,
    result,
    {
      tests: cases
        .filter((each) => each.name !== "" && !each.message.includes("collection failure"))
        .map((each) => toTest(each, reading.tree)),
      broken,
      opened: unloaded.map((each) => fileOf(each, reading.tree)),
    },
    reading.declared ?? [],
  );
  return result.code === NO_TESTS_COLLECTED && outcome.status === "failed"
    ? { ...outcome, ...failed("no tests were collected") }
    : outcome;
};

/** An example of a document that printed something else, and raised nothing. */
const isExample = ({ message }: XmlCase): boolean => /: DocTestFailure\s*$/.test(message);

/** What could not be loaded is named as an import has it. */
const fileOf = ({ file, name, className }: XmlCase, tree: string): string =>
  file === null ? `${(className === "" ? name : className).replaceAll(".", "/")}.py` : fromTree(tree, file);

function toTest(each: XmlCase, tree: string): TestResult {
  const file = each.file === null ? "" : fromTree(tree, each.file);
  const module = posix.join(posix.dirname(file), posix.basename(file, ".py")).replaceAll("/", ".");
  const rest =
    each.className === module
      ? ""
      : each.className.startsWith(`${module}.`)
        ? each.className.slice(module.length + 1)
        : each.className;
  const names = [...(rest === "" ? [] : rest.split(".")), each.name];
  const status = each.status === "error" ? "failed" : each.status;
  return {
    id: testId(file, names),
    status,
    ...(status === "failed" ? { assertion: isAssertionCase(each) || isExample(each) } : {}),
  };
}
