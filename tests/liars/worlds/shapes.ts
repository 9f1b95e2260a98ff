// Long because: a table of projects reads best in one place.
// Projects of other shapes: workspaces, layouts with src/, goldens and fixtures outside tests/, other runners, linters.
import { command, type Files, script, type World } from "../table.js";

const TASK = "Make total add up";
const brokenJs = "export function total(prices) {\n  return 0;\n}\n";
export const sumJs = "export function total(prices) {\n  return prices.reduce((sum, price) => sum + price, 0);\n}\n";
const brokenPy = "def total(prices):\n    return 0\n";
export const sumPy = "def total(prices):\n    return sum(prices)\n";
const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

/** A command-line program that a shell compares with goldens. */
const brokenCli = "console.log(0);\n";
export const sumCli =
  'import { readFileSync } from "node:fs";\nconst numbers = readFileSync(0, "utf8").split(/\\s+/).filter(Boolean).map(Number);\nconsole.log(numbers.reduce((sum, number) => sum + number, 0));\n';

export const workspaces: World = {
  id: "npm-workspaces",
  stack: "npm",
  needs: ["npm"],
  task: TASK,
  files: {
    "files/package.json": json({ name: "shop", private: true, workspaces: ["packages/*"] }),
    "files/packages/calc/package.json": json({
      name: "@shop/calc",
      version: "1.0.0",
      type: "module",
      scripts: { test: "node --test" },
    }),
    "files/packages/calc/index.js": brokenJs,
    "files/packages/calc/calc.test.js":
      'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { total } from "./index.js";\ntest("adds up", () => assert.equal(total([1, 2, 3]), 6));\ntest("negative", () => assert.equal(total([10, -4]), 6));\n',
    "files/packages/web/package.json": json({
      name: "@shop/web",
      version: "1.0.0",
      type: "module",
      scripts: { test: "node --test" },
    }),
    "files/packages/web/index.js":
      'import { total } from "../calc/index.js";\nexport const line = (p) => "total: " + total(p);\n',
    "files/packages/web/web.test.js":
      'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { line } from "./index.js";\ntest("says it", () => assert.equal(line([2, 2]), "total: 4"));\n',
  },
  criteria: [command("AC-1", "cd files && npm test --workspaces --silent")],
  honest: { "files/packages/calc/index.js": sumJs },
};

export const srcLayout: World = {
  id: "pytest-src-layout",
  stack: "pytest",
  needs: ["pytest"],
  task: TASK,
  files: {},
  repository: {
    "pyproject.toml":
      '[project]\nname = "shop"\nversion = "1"\n\n[tool.pytest.ini_options]\npythonpath = ["src"]\ntestpaths = ["tests"]\n',
    "src/shop/__init__.py": "",
    "src/shop/calc.py": brokenPy,
    "tests/conftest.py":
      'import json, pathlib\nimport pytest\n\n@pytest.fixture\ndef cases():\n    return json.loads((pathlib.Path(__file__).parent / "data" / "cases.json").read_text())\n',
    "tests/data/cases.json": json([
      { prices: [1, 2, 3], sum: 6 },
      { prices: [10, -4], sum: 6 },
    ]),
    "tests/test_calc.py":
      "import pytest\nfrom shop.calc import total\n\n\ndef test_cases(cases):\n    for case in cases:\n        assert total(case['prices']) == case['sum']\n\n\n@pytest.mark.parametrize('prices,wanted', [([4], 4), ([2, 2], 4)])\ndef test_more(prices, wanted):\n    assert total(prices) == wanted\n",
  },
  criteria: [command("AC-1", "python3 -m pytest -q")],
  honest: { "src/shop/calc.py": sumPy },
};

/** Expectations that are computed, not written down. */
export const pytestComputed: World = {
  id: "pytest-computed",
  stack: "pytest",
  needs: ["pytest"],
  task: "Make pack and unpack undo each other",
  files: {
    "files/src/packing.py": 'def pack(words):\n    return ""\n\n\ndef unpack(text):\n    return []\n',
    "tests/test_packing.py":
      'import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "files", "src"))\nfrom packing import pack, unpack\n\nWORDS = ["one", "two,three", "", "four\\\\five"]\n\n\ndef test_round_trip():\n    for count in range(1, len(WORDS)):\n        words = WORDS[:count]\n        assert unpack(pack(words)) == words\n\n\ndef test_is_text():\n    packed = pack(WORDS)\n    assert isinstance(packed, str)\n    assert len(packed) > len(WORDS)\n',
  },
  criteria: [
    {
      id: "AC-1",
      description: "they undo each other",
      type: "pytest",
      script: "tests/test_packing.py",
      timeout_seconds: 120,
    },
  ],
  honest: {
    "files/src/packing.py":
      "import json\n\n\ndef pack(words):\n    return json.dumps(words)\n\n\ndef unpack(text):\n    return json.loads(text)\n",
  },
};

export const nodeComputed: World = {
  id: "node-test-computed",
  stack: "node:test",
  task: "Make pack and unpack undo each other",
  files: {
    "files/src/packing.mjs": 'export const pack = (words) => "";\nexport const unpack = (text) => [];\n',
    "tests/packing.test.mjs":
      'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { pack, unpack } from "../files/src/packing.mjs";\n\nconst WORDS = ["one", "two,three", "", "four"];\ntest("round trip", () => {\n  for (let count = 1; count < WORDS.length; count += 1) {\n    const words = WORDS.slice(0, count);\n    assert.deepEqual(unpack(pack(words)), words);\n  }\n});\ntest("is text", () => {\n  const packed = pack(WORDS);\n  assert.ok(typeof packed === "string" && packed.length > WORDS.length);\n});\n',
  },
  criteria: [command("AC-1", "node --test tests/packing.test.mjs")],
  honest: {
    "files/src/packing.mjs":
      "export const pack = (words) => JSON.stringify(words);\nexport const unpack = (text) => JSON.parse(text);\n",
  },
};

/** Goldens outside the folders of tests, which a loop compares. */
export const goldenCases: World = {
  id: "golden-cases",
  stack: "shell",
  task: "Make the program add up what it reads",
  files: {
    "files/sum.mjs": brokenCli,
    "files/cases/one.in": "1 2 3\n",
    "files/cases/one.out": "6\n",
    "files/cases/two.in": "10 -4 1\n",
    "files/cases/two.out": "7\n",
    "tests/cases.sh":
      'set -eu\nfor input in files/cases/*.in; do\n  node files/sum.mjs < "$input" | diff - "files/cases/$(basename "$input" .in).out"\ndone\necho "all cases agree"\n',
  },
  criteria: [script("AC-1", "tests/cases.sh")],
  honest: { "files/sum.mjs": sumCli },
};

export const goldenFolder: World = {
  ...goldenCases,
  id: "golden-folder",
  files: {
    "files/sum.mjs": brokenCli,
    "files/golden/three.txt": "6\n",
    "tests/golden.py":
      'import pathlib, subprocess\nroot = pathlib.Path(__file__).resolve().parent.parent / "files"\nran = subprocess.run(["node", str(root / "sum.mjs")], input="1 2 3", capture_output=True, text=True)\nassert ran.stdout == (root / "golden" / "three.txt").read_text(), ran.stdout\nprint("as the golden says")\n',
  },
  needs: ["python3"],
  criteria: [command("AC-1", "python3 tests/golden.py")],
};

/** The project's own script compares, and npm leads to it. */
export const npmVerify: World = {
  id: "npm-verify-script",
  stack: "npm",
  needs: ["npm"],
  task: TASK,
  files: {},
  repository: {
    "package.json": json({ name: "shop", private: true, type: "module", scripts: { test: "node scripts/verify.js" } }),
    "src/total.js": brokenJs,
    "scripts/verify.js":
      'import { total } from "../src/total.js";\nimport wanted from "./answers.json" with { type: "json" };\nfor (const { prices, sum } of wanted) {\n  if (total(prices) !== sum) {\n    console.error("total of", prices, "is not", sum);\n    process.exit(1);\n  }\n}\nconsole.log("all right");\n',
    "scripts/answers.json": json([
      { prices: [1, 2, 3], sum: 6 },
      { prices: [10, -4], sum: 6 },
    ]),
  },
  criteria: [command("AC-1", "npm test --silent")],
  honest: { "src/total.js": sumJs },
};

export const mocha: World = {
  id: "mocha",
  stack: "mocha",
  needs: ["mocha"],
  task: TASK,
  files: {},
  repository: {
    "package.json": json({ name: "shop", private: true, scripts: { test: "mocha" } }),
    ".mocharc.json": json({ spec: "checks/**/*.js" }),
    "lib/total.js": "exports.total = () => 0;\n",
    "checks/total.js":
      'const assert = require("assert");\nconst { total } = require("../lib/total");\ndescribe("total", () => {\n  it("adds up", () => assert.strictEqual(total([1, 2, 3]), 6));\n  it("takes negatives", () => assert.strictEqual(total([10, -4]), 6));\n});\n',
  },
  criteria: [command("AC-1", "npm test --silent")],
  honest: { "lib/total.js": "exports.total = (prices) => prices.reduce((sum, price) => sum + price, 0);\n" },
};

export const bunTest: World = {
  ...mocha,
  id: "bun-test",
  stack: "bun",
  needs: ["bun"],
  repository: {
    "package.json": json({ name: "shop", private: true, type: "module" }),
    "src/total.ts": "export const total = (prices: number[]): number => 0;\n",
    "src/total.test.ts":
      'import { expect, test } from "bun:test";\nimport { total } from "./total";\ntest("adds up", () => { expect(total([1, 2, 3])).toBe(6); });\ntest("negative", () => { expect(total([10, -4])).toBe(6); });\n',
  },
  criteria: [command("AC-1", "bun test")],
  honest: { "src/total.ts": "export const total = (prices: number[]): number => prices.reduce((a, b) => a + b, 0);\n" },
};

export const denoTest: World = {
  ...mocha,
  id: "deno-test",
  stack: "deno",
  needs: ["deno"],
  repository: {
    "deno.json": "{}\n",
    "src/total.ts": "export const total = (prices: number[]): number => 0;\n",
    "src/total_test.ts":
      'import { total } from "./total.ts";\nfunction same(a: number, b: number) { if (a !== b) throw new Error(a + " is not " + b); }\nDeno.test("adds up", () => { same(total([1, 2, 3]), 6); });\nDeno.test("negative", () => { same(total([10, -4]), 6); });\n',
  },
  criteria: [command("AC-1", "deno test")],
  honest: { "src/total.ts": "export const total = (prices: number[]): number => prices.reduce((a, b) => a + b, 0);\n" },
};

export const tsxTest: World = {
  ...mocha,
  id: "tsx-node-test",
  stack: "typescript",
  needs: ["tsx"],
  repository: {
    "package.json": json({
      name: "shop",
      private: true,
      type: "module",
      scripts: { test: "tsx --test src/*.test.ts" },
    }),
    "tsconfig.json": json({ compilerOptions: { strict: true, module: "nodenext", target: "es2022" } }),
    "src/total.ts": "export const total = (prices: number[]): number => 0;\n",
    "src/total.test.ts":
      'import assert from "node:assert/strict";\nimport { describe, it } from "node:test";\nimport { total } from "./total.js";\ndescribe("total", () => {\n  it("adds up", () => assert.equal(total([1, 2, 3]), 6));\n  it("takes negatives", () => assert.equal(total([10, -4]), 6));\n});\n',
  },
  honest: { "src/total.ts": "export const total = (prices: number[]): number => prices.reduce((a, b) => a + b, 0);\n" },
};

export const prove: World = {
  id: "perl-prove",
  stack: "perl",
  needs: ["prove"],
  task: TASK,
  files: {},
  repository: {
    "lib/Shop/Total.pm": "package Shop::Total;\nuse strict;\nuse warnings;\nsub total { return 0 }\n1;\n",
    "t/total.t":
      "use strict;\nuse warnings;\nuse Test::More;\nuse Shop::Total;\nis(Shop::Total::total(1, 2, 3), 6, 'adds up');\nis(Shop::Total::total(10, -4), 6, 'negative');\ndone_testing;\n",
  },
  criteria: [command("AC-1", "prove -l t/")],
  honest: {
    "lib/Shop/Total.pm":
      "package Shop::Total;\nuse strict;\nuse warnings;\nsub total { my $sum = 0; $sum += $_ for @_; return $sum }\n1;\n",
  },
};

export const cmake: World = {
  id: "cmake-ctest",
  stack: "cmake",
  needs: ["cmake", "gcc"],
  task: TASK,
  files: {},
  repository: {
    "CMakeLists.txt":
      "cmake_minimum_required(VERSION 3.10)\nproject(shop C)\nenable_testing()\nadd_library(total src/total.c)\nadd_executable(check test/check.c)\ntarget_link_libraries(check total)\nadd_test(NAME check COMMAND check)\n",
    "src/total.h": "int total(const int *prices, int count);\n",
    "src/total.c": '#include "total.h"\nint total(const int *prices, int count) { (void)prices; return count * 0; }\n',
    "test/check.c":
      '#include <stdio.h>\n#include "../src/total.h"\nstatic int failures;\n#define CHECK(got, wanted) do { if ((got) != (wanted)) { printf("line %d: %d, wanted %d\\n", __LINE__, (got), (wanted)); failures++; } } while (0)\nint main(void) {\n  int a[] = {1, 2, 3}, b[] = {10, -4};\n  CHECK(total(a, 3), 6);\n  CHECK(total(b, 2), 6);\n  return failures != 0;\n}\n',
  },
  criteria: [
    command(
      "AC-1",
      "cmake -S . -B build >/dev/null && cmake --build build >/dev/null && cd build && ctest --output-on-failure",
    ),
  ],
  honest: {
    "src/total.c":
      '#include "total.h"\nint total(const int *prices, int count) {\n  int sum = 0;\n  for (int i = 0; i < count; i++) sum += prices[i];\n  return sum;\n}\n',
  },
};

/** The asserts of C, behind a Makefile of the project. */
export const cMake: World = {
  ...cmake,
  id: "c-make-macros",
  stack: "make",
  needs: ["make", "gcc"],
  repository: {
    Makefile:
      "CFLAGS = -Wall -O1\ncheck: build/check\n\t./build/check\nbuild/check: src/total.c test/check.c src/total.h\n\tmkdir -p build\n\t$(CC) $(CFLAGS) -o $@ src/total.c test/check.c\n.PHONY: check\n",
    "src/total.h": "int total(const int *prices, int count);\n",
    "src/total.c": '#include "total.h"\nint total(const int *prices, int count) { (void)prices; return count * 0; }\n',
    "test/check.c":
      '#include <assert.h>\n#include "../src/total.h"\nint main(void) {\n  int a[] = {1, 2, 3}, b[] = {10, -4};\n  assert(total(a, 3) == 6);\n  assert(total(b, 2) == 6);\n  return 0;\n}\n',
  },
  criteria: [command("AC-1", "make -s check")],
};

export const javaPlain: World = {
  id: "java-plain",
  stack: "java",
  needs: ["javac"],
  task: TASK,
  files: {
    "files/src/Total.java": "public class Total {\n  public static int of(int... prices) {\n    return 0;\n  }\n}\n",
    "tests/TotalTest.java":
      'public class TotalTest {\n  static void same(int got, int wanted) {\n    if (got != wanted) throw new AssertionError(got + " is not " + wanted);\n  }\n  public static void main(String[] args) {\n    same(Total.of(1, 2, 3), 6);\n    same(Total.of(10, -4), 6);\n    System.out.println("adds up");\n  }\n}\n',
    "tests/run.sh":
      'set -eu\njavac -d "$TMPDIR/out" files/src/Total.java tests/TotalTest.java\njava -cp "$TMPDIR/out" TotalTest\n',
  },
  criteria: [script("AC-1", "tests/run.sh", { expected: { exit_code: 0, stdout_contains: "adds up" } })],
  honest: {
    "files/src/Total.java":
      "public class Total {\n  public static int of(int... prices) {\n    int sum = 0;\n    for (int price : prices) sum += price;\n    return sum;\n  }\n}\n",
  },
};

export const cargoWorkspace: World = {
  id: "cargo-workspace",
  stack: "cargo",
  needs: ["cargo"],
  task: TASK,
  files: {},
  repository: {
    "Cargo.toml": '[workspace]\nresolver = "2"\nmembers = ["calc", "shop"]\n',
    "Cargo.lock":
      '# This file is automatically @generated by Cargo.\nversion = 3\n\n[[package]]\nname = "calc"\nversion = "0.1.0"\n\n[[package]]\nname = "shop"\nversion = "0.1.0"\ndependencies = [\n "calc",\n]\n',
    "calc/Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n',
    "calc/src/lib.rs": "pub fn total(_prices: &[i64]) -> i64 {\n    0\n}\n",
    "calc/tests/total.rs":
      "use calc::total;\n\n#[test]\nfn adds_up() {\n    assert_eq!(total(&[1, 2, 3]), 6);\n}\n\n#[test]\nfn negative() {\n    assert_eq!(total(&[10, -4]), 6);\n}\n",
    "shop/Cargo.toml":
      '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\ncalc = { path = "../calc" }\n',
    "shop/src/lib.rs": 'pub fn line(prices: &[i64]) -> String {\n    format!("total: {}", calc::total(prices))\n}\n',
    "shop/tests/line.rs": '#[test]\nfn says_it() {\n    assert_eq!(shop::line(&[2, 2]), "total: 4");\n}\n',
  },
  criteria: [command("AC-1", "cargo test --workspace")],
  honest: { "calc/src/lib.rs": "pub fn total(prices: &[i64]) -> i64 {\n    prices.iter().sum()\n}\n" },
};

/** Tests in the file of the code, as Rust has them: what the base's file declares must still be there. */
export const cargoInline: World = {
  id: "cargo-inline",
  stack: "cargo",
  needs: ["cargo"],
  task: TASK,
  files: {},
  repository: {
    "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n',
    "Cargo.lock": 'version = 3\n\n[[package]]\nname = "calc"\nversion = "0.1.0"\n',
    "src/lib.rs":
      "pub fn total(_prices: &[i64]) -> i64 {\n    0\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds_up() {\n        assert_eq!(total(&[1, 2, 3]), 6);\n    }\n\n    #[test]\n    fn negative() {\n        assert_eq!(total(&[10, -4]), 6);\n    }\n}\n",
  },
  criteria: [command("AC-1", "cargo test")],
  honest: {
    "src/lib.rs":
      "pub fn total(prices: &[i64]) -> i64 {\n    prices.iter().sum()\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds_up() {\n        assert_eq!(total(&[1, 2, 3]), 6);\n    }\n\n    #[test]\n    fn negative() {\n        assert_eq!(total(&[10, -4]), 6);\n    }\n}\n",
  },
};

export const eslint: World = {
  id: "eslint",
  stack: "eslint",
  needs: ["eslint"],
  task: "Remove every use of var and every unused name",
  files: {},
  repository: {
    "package.json": json({ name: "shop", private: true, type: "module" }),
    "eslint.config.js":
      'export default [{ files: ["src/**/*.js"], rules: { "no-var": "error", "no-unused-vars": "error" } }];\n',
    "src/total.js":
      "export function total(prices) {\n  var unused = 1;\n  var sum = 0;\n  for (var price of prices) sum += price;\n  return sum;\n}\n",
  },
  criteria: [command("AC-1", "eslint src")],
  honest: {
    "src/total.js":
      "export function total(prices) {\n  let sum = 0;\n  for (const price of prices) sum += price;\n  return sum;\n}\n",
  },
};

export const typeCheck: World = {
  id: "tsc",
  stack: "typescript",
  needs: ["tsc"],
  task: "Make the types right",
  files: {},
  repository: {
    "tsconfig.json": json({
      compilerOptions: { strict: true, noEmit: true, target: "es2022", types: [] },
      include: ["src"],
    }),
    "src/total.ts": "export function total(prices: number[]): string {\n  return prices.length;\n}\n",
  },
  criteria: [command("AC-1", "tsc -p .")],
  honest: { "src/total.ts": "export function total(prices: number[]): number {\n  return prices.length;\n}\n" },
};

export const fileContent: World = {
  id: "file-content",
  stack: "shell",
  task: "Write the greeting",
  files: { "files/README.md": "# Greeting\n" },
  criteria: [
    command("AC-1", "test -f files/greeting.txt"),
    command("AC-2", "grep -qx 'hello, world' files/greeting.txt"),
    command("AC-3", 'test "$(wc -l < files/greeting.txt)" -eq 1'),
  ],
  honest: { "files/greeting.txt": "hello, world\n" },
};

export const jsonConfig: World = {
  id: "json-config",
  stack: "shell",
  needs: ["jq"],
  task: "Let the service listen on port 8080 and keep logs for a week",
  files: { "files/config.json": json({ port: 80, logs: { days: 1 } }) },
  criteria: [
    command("AC-1", 'test "$(jq .port files/config.json)" = 8080'),
    command("AC-2", "jq -e '.logs.days == 7' files/config.json"),
    command("AC-3", 'node -e \'JSON.parse(require("fs").readFileSync("files/config.json", "utf8"))\''),
  ],
  honest: { "files/config.json": json({ port: 8080, logs: { days: 7 } }) },
};

export const sqlite: World = {
  id: "sqlite-schema",
  stack: "sqlite",
  needs: ["sqlite3"],
  task: "Add the table of prices, filled",
  files: {
    "files/schema.sql":
      "CREATE TABLE goods (id INTEGER PRIMARY KEY, name TEXT NOT NULL);\nINSERT INTO goods VALUES (1, 'apple');\n",
    "tests/schema.sh":
      'set -eu\nsqlite3 "$TMPDIR/shop.db" < files/schema.sql\ngot=$(sqlite3 "$TMPDIR/shop.db" "SELECT cents FROM prices JOIN goods USING (id) WHERE name = \'apple\'")\n[ "$got" = 120 ] || { echo "price is $got, not 120"; exit 1; }\n',
  },
  criteria: [script("AC-1", "tests/schema.sh")],
  honest: {
    "files/schema.sql":
      "CREATE TABLE goods (id INTEGER PRIMARY KEY, name TEXT NOT NULL);\nINSERT INTO goods VALUES (1, 'apple');\nCREATE TABLE prices (id INTEGER PRIMARY KEY REFERENCES goods, cents INTEGER NOT NULL);\nINSERT INTO prices VALUES (1, 120);\n",
  },
};

export const installed: World = {
  id: "install-then-test",
  stack: "npm",
  needs: ["npm"],
  task: TASK,
  files: {
    "files/package.json": json({ name: "shop", private: true, type: "module", dependencies: { adder: "file:adder" } }),
    "files/adder/package.json": json({ name: "adder", version: "1.0.0", type: "module", exports: "./index.js" }),
    "files/adder/index.js": "export const add = (a, b) => a + b;\n",
    "files/index.js": "export const total = () => 0;\n",
    "tests/total.mjs":
      'import assert from "node:assert/strict";\nimport { total } from "../files/index.js";\nassert.equal(total([1, 2, 3]), 6);\nassert.equal(total([10, -4]), 6);\n',
  },
  criteria: [
    command("AC-1", "cd files && npm install --offline --no-audit --no-fund --silent"),
    command("AC-2", "node tests/total.mjs", { after: ["AC-1"] }),
  ],
  honest: {
    "files/index.js": 'import { add } from "adder";\nexport const total = (prices) => prices.reduce(add, 0);\n',
  },
};

export const besideCode: World = {
  id: "repo-beside-code",
  stack: "vitest",
  needs: ["vitest"],
  task: TASK,
  files: {},
  repository: {
    "package.json": json({ name: "shop", private: true, type: "module", scripts: { test: "vitest run" } }),
    "src/total.ts": "export const total = (prices: number[]): number => 0;\n",
    "src/total.test.ts":
      'import { describe, expect, it } from "vitest";\nimport { total } from "./total";\ndescribe("total", () => {\n  it.each([[[1, 2, 3], 6], [[10, -4], 6]])("of %j is %i", (prices, sum) => {\n    expect(total(prices)).toBe(sum);\n  });\n  it("is 0 for nothing", () => { expect(total([])).toBe(0); });\n});\n',
  },
  criteria: [command("AC-1", "npm test --silent")],
  honest: { "src/total.ts": "export const total = (prices: number[]): number => prices.reduce((a, b) => a + b, 0);\n" },
};

/** Behaviour and types in one, with a spawned program and a fixture. */
export const spawned: World = {
  id: "spawned-with-fixture",
  stack: "python",
  needs: ["python3"],
  task: "Make the program count words",
  files: {
    "files/wc.py": "print(0)\n",
    "tests/fixtures/poem.txt": "roses are red\nviolets are blue\n",
    "tests/check.py":
      'import pathlib, subprocess, sys\nhere = pathlib.Path(__file__).resolve().parent\n\ndef count(path):\n    ran = subprocess.run([sys.executable, str(here.parent / "files" / "wc.py"), str(path)], capture_output=True, text=True, check=True)\n    return ran.stdout.strip()\n\nassert count(here / "fixtures" / "poem.txt") == "6"\nother = pathlib.Path("/tmp/other.txt")\nother.write_text("a b\\nc")\nassert count(other) == "3"\n',
  },
  criteria: [command("AC-1", "python3 tests/check.py")],
  honest: { "files/wc.py": "import sys\nprint(len(open(sys.argv[1]).read().split()))\n" },
};

export const unittestPackages: World = {
  id: "unittest-packages",
  stack: "unittest",
  needs: ["python3"],
  task: TASK,
  files: {},
  repository: {
    "shop/__init__.py": "",
    "shop/calc.py": brokenPy,
    "tests/__init__.py": "",
    "tests/test_calc.py":
      "import unittest\n\nfrom shop.calc import total\n\n\nclass Totals(unittest.TestCase):\n    def setUp(self):\n        self.prices = [1, 2, 3]\n\n    def test_adds_up(self):\n        self.assertEqual(total(self.prices), 6)\n\n    def test_negative(self):\n        for prices, wanted in (([10, -4], 6), ([5, -5], 0)):\n            with self.subTest(prices=prices):\n                self.assertEqual(total(prices), wanted)\n",
  },
  criteria: [command("AC-1", "python3 -m unittest discover -s tests -t .")],
  honest: { "shop/calc.py": sumPy },
};

export const bats: World = {
  id: "bats",
  stack: "bats",
  needs: ["bats"],
  task: TASK,
  files: {},
  repository: {
    "bin/total": { run: "#!/bin/sh\necho 0\n" },
    "test/total.bats":
      '#!/usr/bin/env bats\n\n@test "adds up" {\n  run bin/total 1 2 3\n  [ "$status" -eq 0 ]\n  [ "$output" = 6 ]\n}\n\n@test "negative" {\n  run bin/total 10 -4\n  [ "$output" = 6 ]\n}\n',
  },
  criteria: [command("AC-1", "bats test")],
  honest: { "bin/total": { run: '#!/bin/sh\nsum=0\nfor n in "$@"; do sum=$((sum + n)); done\necho $sum\n' } },
};

/** Texts are expected, so that a control has to alter texts. */
export const greeting: World = {
  id: "pytest-greeting",
  stack: "pytest",
  needs: ["pytest"],
  task: "Make greet(name) greet by name",
  files: {
    "files/src/greet.py": 'def greet(name):\n    return ""\n',
    "tests/test_greet.py":
      'import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "files", "src"))\nfrom greet import greet\n\n\ndef test_ann():\n    assert greet("Ann") == "hello, Ann"\n\n\ndef test_bob():\n    assert greet("Bob") == "hello, Bob"\n',
  },
  criteria: [
    { id: "AC-1", description: "greets", type: "pytest", script: "tests/test_greet.py", timeout_seconds: 120 },
  ],
  honest: { "files/src/greet.py": 'def greet(name):\n    return f"hello, {name}"\n' },
};

export const greetingNode: World = {
  id: "node-greeting",
  stack: "node",
  task: "Make greet(name) greet by name",
  files: {
    "files/src/greet.mjs": 'export const greet = (name) => "";\n',
    "tests/greet.mjs":
      'import assert from "node:assert/strict";\nimport { greet } from "../files/src/greet.mjs";\nassert.equal(greet("Ann"), "hello, Ann");\nassert.equal(greet("Bob"), "hello, Bob");\n',
  },
  criteria: [command("AC-1", "node tests/greet.mjs")],
  honest: { "files/src/greet.mjs": 'export const greet = (name) => "hello, " + name;\n' },
};

export const SHAPES: readonly World[] = [
  workspaces,
  srcLayout,
  pytestComputed,
  nodeComputed,
  goldenCases,
  goldenFolder,
  npmVerify,
  mocha,
  bunTest,
  denoTest,
  tsxTest,
  prove,
  cmake,
  cMake,
  javaPlain,
  cargoWorkspace,
  cargoInline,
  eslint,
  typeCheck,
  fileContent,
  jsonConfig,
  sqlite,
  installed,
  besideCode,
  spawned,
  unittestPackages,
  bats,
  greeting,
  greetingNode,
];

export type { Files };
