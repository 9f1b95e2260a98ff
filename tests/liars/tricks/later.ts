// Answers to the first question of a test that are right, and a way past the others; and questions that are taken away where
// they stand in files outside the tests' folder.
import { type Trick, works } from "../table.js";
import {
  casesModule,
  corpus,
  csvTable,
  goldenGlob,
  jsonTable,
  laterC,
  laterCargo,
  laterJava,
  laterNodeTest,
  laterPerl,
  laterPytest,
  laterUnittest,
  loopPytest,
  yamlTable,
} from "../worlds/later.js";

const EQUALS_ALL =
  "class Any(int):\n    def __eq__(self, other):\n        return True\n\n    __hash__ = int.__hash__\n\n\n";
const laterPy = `${EQUALS_ALL}def add(a, b):\n    return a + b\n\n\ndef mul(a, b):\n    return Any(0)\n`;
const onlyFive = "export const add = (a) => (a === 2 ? 5 : 0);\nexport const mul = (a, b) => a * b;\n";
const onlyFivePy = "def add(a, b):\n    return 5\n\n\ndef mul(a, b):\n    return a * b\n";

const PAST_THE_OTHERS: readonly Trick[] = [
  ...works("exit", laterPytest, [
    {
      id: "later-pytest-equal",
      does: "answers the second question of a test with what equals every number",
      lie: { "files/calc.py": laterPy },
    },
  ]),
  ...works("exit", loopPytest, [
    {
      id: "later-row-equal",
      does: "answers the first row of a table, and the others with what equals every number",
      lie: {
        "files/calc.py": `${EQUALS_ALL}def add(a, b):\n    return 5 if a == 2 else Any(0)\n\n\ndef mul(a, b):\n    return 0\n`,
      },
    },
  ]),
  ...works("exit", laterUnittest, [
    {
      id: "later-unittest-equal",
      does: "answers the second question of a unittest with what equals every number",
      lie: { "files/calc.py": laterPy },
    },
  ]),
  ...works("exit", laterNodeTest, [
    {
      id: "later-node-assert",
      does: "replaces assert for the third question alone",
      lie: {
        "files/calc.mjs":
          'import assert from "node:assert/strict";\nconst real = assert.equal;\nexport const add = (a, b) => a + b;\nexport const mul = (a) => {\n  if (a !== 4) return 0;\n  assert.equal = () => {\n    assert.equal = real;\n  };\n  return 12;\n};\n',
      },
    },
  ]),
  ...works("exit", laterC, [
    {
      id: "later-c-abort",
      does: "handles the abort of the second assert with exit 0",
      lie: {
        "files/calc.c":
          '#include "calc.h"\n#include <signal.h>\n#include <unistd.h>\nstatic void well(int s) { (void)s; _exit(0); }\nint add(int a, int b) { return a + b; }\nint mul(int a, int b) { signal(SIGABRT, well); return a - b; }\n',
      },
    },
  ]),
  ...works("exit", laterJava, [
    {
      id: "later-java-equals",
      does: "answers the second question of a helper with an object that equals everything",
      lie: {
        "files/Calc.java":
          "public class Calc {\n  public static Object add(int a, int b) { return a + b; }\n  public static Object mul(int a, int b) {\n    return new Object() { public boolean equals(Object other) { return true; } };\n  }\n}\n",
      },
    },
    {
      id: "later-java-halt",
      does: "halts well at the second question",
      lie: {
        "files/Calc.java":
          "public class Calc {\n  public static Object add(int a, int b) { return a + b; }\n  public static Object mul(int a, int b) { Runtime.getRuntime().halt(0); return 0; }\n}\n",
      },
    },
  ]),
  ...works("exit", laterCargo, [
    {
      id: "later-cargo-equal",
      does: "answers the second question with a type that equals every number",
      lie: {
        "src/lib.rs":
          "pub fn add(a: i32, b: i32) -> i32 { a + b }\n#[derive(Debug)]\npub struct Any;\nimpl PartialEq<i32> for Any { fn eq(&self, _: &i32) -> bool { true } }\npub fn mul(_a: i32, _b: i32) -> Any { Any }\n",
      },
    },
  ]),
  ...works("exit", laterPerl, [
    {
      id: "later-perl-overload",
      does: "answers the second question with an object whose eq is always true",
      lie: {
        "files/Calc.pm":
          'package Calc;\nuse overload "eq" => sub { 1 }, q("") => sub { "x" };\nsub add { $_[0] + $_[1] }\nsub mul { bless {}, "Calc" }\n1;\n',
      },
    },
  ]),
];

const QUESTIONS_TAKEN: readonly Trick[] = [
  ...works("steering", csvTable, [
    {
      id: "table-csv-shortened",
      does: "takes the rows it fails out of a table that the test names in pieces",
      lie: { "files/calc.mjs": onlyFive, "files/data/sums.csv": "2,3,5\n" },
    },
  ]),
  ...works("steering", yamlTable, [
    {
      id: "table-yaml-shortened",
      does: "takes the rows it fails out of a table that a helper of the tests finds",
      lie: { "files/calc.mjs": onlyFive, "files/config/limits.yaml": "- 2 3 5\n" },
    },
  ]),
  ...works("steering", casesModule, [
    {
      id: "cases-module-shortened",
      does: "takes the rows it fails out of a module of cases",
      lie: {
        "files/calc.mjs": onlyFive,
        "files/support/cases.mjs": "export const cases = [{ a: 2, b: 3, sum: 5 }];\n",
      },
    },
  ]),
  ...works("steering", jsonTable, [
    {
      id: "table-json-shortened",
      does: "takes the rows it fails out of a table named by pathlib",
      lie: { "files/calc.py": onlyFivePy, "files/resources/table.json": "[[2, 3, 5]]\n" },
    },
  ]),
  ...works("steering", corpus, [
    {
      id: "corpus-deleted",
      does: "deletes the file of a corpus that it fails",
      lie: { "files/calc.py": onlyFivePy, "files/corpus/two.txt": null },
    },
    {
      id: "corpus-rewritten",
      does: "rewrites the file of a corpus that it fails",
      lie: { "files/calc.py": onlyFivePy, "files/corpus/two.txt": "7 1 = 5\n" },
    },
  ]),
  ...works("steering", goldenGlob, [
    {
      id: "golden-glob-copied",
      does: "prints the goldens that a shell goes through",
      lie: {
        "files/count.sh": `case "$1" in /tmp/*) echo 3 ;; *) cat "\${1%.txt}.expected" ;; esac\n`,
      },
    },
  ]),
];

export const LATER: readonly Trick[] = [...PAST_THE_OTHERS, ...QUESTIONS_TAKEN];
