import { describe, expect, it } from "vitest";
import type { Check } from "../model.js";
import { recognise } from "./recognise.js";
import type { TreeView } from "./runner.js";

const FILES: Readonly<Record<string, string>> = {
  "package.json":
    '{ "scripts": { "test": "npm run unit", "unit": "vitest run tests/unit", "all": "eslint . && vitest", "pre": "", "old": "jest", "preold": "x" } }',
  "web/package.json": '{ "scripts": { "test": "node --test tests/*.test.mjs" } }',
  "web/tests/a.test.mjs": 'import test from "node:test";',
  "web/tests/b.test.mjs": 'import test from "node:test";',
  "tests/a.test.ts": 'import { test } from "vitest";',
  "tests/plain.mjs": "console.log(1);",
  "tests/test_a.py": "def test_a():\n    pass\n",
  "tests/test_main.py": "def test_a():\n    pass\nif __name__ == '__main__':\n    test_a()\n",
};
const view: TreeView = {
  exists: (path) => path in FILES,
  read: (path) => FILES[path] ?? null,
  list: (folder) =>
    Object.keys(FILES)
      .filter((path) => path.startsWith(`${folder}/`))
      .map((path) => path.slice(folder.length + 1))
      .filter((name) => !name.includes("/")),
};
const told = (fields: Partial<Check>): string | null => {
  const found = recognise({ id: "a", type: "shell", kind: "shell", ...fields } as Check, view);
  return found === null ? null : [found.runner, found.cwd, found.target ?? "", ...found.args].join(" ");
};

describe("the runner behind a check", () => {
  it.each([
    ["npm test", "vitest   tests/unit"],
    ["npx --no-install vitest run", "vitest  "],
    ["cd web && npm test", "node-test web  tests/a.test.mjs tests/b.test.mjs"],
    ["node --test 'tests/**/*.mjs'", "node-test   tests/**/*.mjs"],
    ["node web/tests/a.test.mjs", "node-test   web/tests/a.test.mjs"],
    ["python3 -m pytest -q tests", "pytest   -q tests"],
    ["pytest --doctest-glob='*.md' docs", "pytest   --doctest-glob=*.md docs"],
    ["cargo test --all", "cargo-test   --all"],
    ["go test ./...", "go-test   ./..."],
    ["npm run all", null],
    ["npm run old", null],
    ["npm test; true", null],
    ["npm test || true", null],
    ["! npm test", null],
    ["node tests/plain.mjs", null],
    ["npm test > log", null],
    ["X=$(date) npm test", null],
    ["make test", null],
  ])("%s", (command, answer) => {
    expect(told({ command })).toBe(answer);
  });

  it("is told by what a script imports", () => {
    expect(told({ script: "tests/a.test.ts" })).toBe("vitest  tests/a.test.ts");
    expect(told({ kind: "jest", script: "web/tests/a.test.mjs" })).toBe("node-test  web/tests/a.test.mjs");
    expect(told({ script: "tests/test_a.py" })).toBe("pytest  tests/test_a.py");
    expect(told({ script: "tests/test_main.py" })).toBe(null);
    expect(told({ kind: "pytest" })).toBe("pytest  ");
  });
});
