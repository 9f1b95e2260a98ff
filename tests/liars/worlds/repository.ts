// Work in a repository: the request brings words and perhaps tests, the repository brings everything else.
import { command, type World } from "../table.js";
import { npm, summing } from "./node.js";
import { make } from "./system.js";

const atRoot = (files: World["files"]) =>
  Object.fromEntries(Object.entries(files).map(([path, content]) => [path.replace(/^files\//, ""), content]));

/** The repository's own tests decide. */
export const repoNpm: World = {
  ...npm,
  id: "repo-npm",
  stack: "repository, npm",
  needs: ["npm", "git"],
  files: {},
  repository: atRoot(npm.files),
  criteria: [command("AC-1", "npm test --silent")],
  honest: { "src/total.mjs": summing },
};

/** The request brings the test. */
export const repoTests: World = {
  ...repoNpm,
  id: "repo-tests",
  files: {
    "tests/total.mjs":
      'import assert from "node:assert/strict";\nimport { total } from "../src/total.mjs";\nassert.equal(total([1, 2, 3]), 6);\nassert.equal(total([10, -4]), 6);\n',
  },
  criteria: [command("AC-1", "node tests/total.mjs")],
};

export const repoPytest: World = {
  id: "repo-pytest",
  stack: "repository, pytest",
  needs: ["pytest", "git"],
  task: "Make total(prices) return the sum of its prices",
  files: {},
  repository: {
    "calc.py": "def total(prices):\n    return 0\n",
    "test/test_calc.py":
      'import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))\nfrom calc import total\n\ndef test_adds_up():\n    assert total([1, 2, 3]) == 6\n\ndef test_negative():\n    assert total([10, -4]) == 6\n',
    "README.md": "# calc\n",
  },
  criteria: [command("AC-1", "pytest -q test")],
  honest: { "calc.py": "def total(prices):\n    return sum(prices)\n" },
};

export const repoMake: World = {
  ...make,
  id: "repo-make",
  stack: "repository, make",
  needs: ["make", "gcc", "git"],
  files: {},
  repository: atRoot(make.files),
  criteria: [command("AC-1", "make -s test")],
  honest: { "src/total.c": make.honest["files/src/total.c"]! },
};

export const REPOSITORY_WORLDS = [repoNpm, repoTests, repoPytest, repoMake];
