// A program of QuixBugs as a request: the wrong line is the task, the right program the oracle, its pytest file the criterion.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CorpusTask } from "./find-tasks.js";

export function writeQuixbugs(
  { name, path }: CorpusTask,
  { request, oracle }: { request: string; oracle: string },
): void {
  for (const folder of ["python_programs", "python_testcases", "tests", "context"])
    mkdirSync(join(request, folder), { recursive: true });
  const program = `python_programs/${name}.py`;
  const test = `python_testcases/test_${name}.py`;
  const shared = readdirSync(join(path, "python_programs")).filter((file) => /^(?:node|__init__)\.py$/.test(file));
  for (const file of [program, test, ...shared.map((file) => `python_programs/${file}`), `json_testcases/${name}.json`])
    if (existsSync(join(path, file))) cpSync(join(path, file), join(request, file));
  for (const file of ["conftest.py", "python_testcases/load_testdata.py", "python_testcases/node.py"])
    if (existsSync(join(path, file))) cpSync(join(path, file), join(request, file));
  // Of every program the untouched request has the wrong one, so a test must not fall back on the right twin.
  writeFileSync(join(request, "context/requirements.md"), `One line of ${program} is wrong. Find it and mend it.\n`);
  const criteria = [{ id: `test_${name}`, type: "pytest", script: test, timeout_seconds: 60 }];
  writeFileSync(join(request, "tests/criteria.json"), JSON.stringify({ criteria_version: "1.0", criteria }));
  const manifest = {
    nutshell_version: "0.2.0",
    bundle_type: "request",
    id: `nut-quixbugs-${name.replaceAll("_", "-")}`,
    task: { title: `Mend ${name}`, summary: `One line of ${program} is wrong.` },
    context: { requirements: "context/requirements.md" },
    acceptance: { criteria_file: "tests/criteria.json" },
  };
  writeFileSync(join(request, "nutshell.json"), JSON.stringify(manifest));
  mkdirSync(join(oracle, "files/python_programs"), { recursive: true });
  const right = readFileSync(join(path, `correct_python_programs/${name}.py`));
  writeFileSync(join(oracle, "files", program), right);
}
