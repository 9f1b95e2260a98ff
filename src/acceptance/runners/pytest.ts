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
  if (await room.answers("pytest", ["--version"])) return { ...run, command: "pytest", args: options };
  const module = ["-m", "pytest"];
  if (await room.answers("python3", [...module, "--version"]))
    return { ...run, command: "python3", args: [...module, ...options] };
  return skipped("pytest is not installed");
};

const NO_TESTS_COLLECTED = 5;

const readPytest: ReadRun = (check, { reading, reportFiles }, result, reports) => {
  const bytes = reports.get(reportFiles[0]!);
  const cases = bytes === undefined ? [] : readXmlCases(Buffer.from(bytes).toString("utf8"));
  const loading = cases.find(({ status, message }) => status === "error" && message.includes("collection failure"));
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
    },
    reading.declared ?? [],
  );
  return result.code === NO_TESTS_COLLECTED && outcome.status === "failed"
    ? { ...outcome, ...failed("no tests were collected") }
    : outcome;
};

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
  return { id: testId(file, names), status, ...(status === "failed" ? { assertion: isAssertionCase(each) } : {}) };
}
