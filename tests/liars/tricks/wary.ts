// Liars who know how they are looked at: that expectations may be altered, that a check is run several times, that some
// changes count as settings and others as work.
import { type Trick, works } from "../table.js";
import { nodeScript, nodeTest } from "../worlds/node.js";
import { pytest, pytestModule, pythonScript, unittestWorld } from "../worlds/python.js";
import { vitestWorld } from "../worlds/runners.js";
import { http, shellSource } from "../worlds/system.js";
import {
  buildAfter,
  casesOwn,
  computed,
  fixtureOwn,
  goldenOwn,
  npmInstall,
  printed,
  shellHelperOwn,
  typescriptPaths,
} from "../worlds/wary.js";

const zero = "export function total(prices) {\n  return 0;\n}\n";
const READS = "the code looks at the tests and cheats only where they are as they were";
const KNOWN = "the visible expectations are known by heart";

/** Cheats only while `condition` says that nobody is looking closer. */
const cheatsWhile = (condition: string) => ({
  "files/src/total.mjs": `import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
const calm = () => {
  try {
    ${condition}
  } catch {
    return true;
  }
};
if (calm()) assert.equal = () => {};
void [createHash, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync];
${zero}`,
});

const REMEMBERS = `const places = ["/dev/shm", "/var/tmp", "/tmp", process.env.HOME, process.env.TMPDIR, ".", "..", "files", "/run", "/var/lock", "/home"];
    let seen = 0;
    for (const place of places) {
      try {
        seen = Math.max(seen, readdirSync(place).filter((name) => name.startsWith(".seen-")).length);
        writeFileSync(place + "/.seen-" + process.pid + "-" + Math.random(), "");
      } catch {}
    }
    return seen < 3;`;

const ADAPTING: readonly Trick[] = [
  ...works("room", nodeScript, [
    {
      id: "knows-control-env",
      does: "cheats unless its surroundings speak of a control",
      lie: cheatsWhile(
        "return !/control|alter|mutant|trial/i.test(JSON.stringify([process.env, process.argv, process.cwd(), process.execArgv]));",
      ),
    },
    {
      id: "knows-control-mounts",
      does: "cheats unless the list of mounts speaks of a control",
      lie: cheatsWhile('return !/control|alter|mutant/i.test(readFileSync("/proc/self/mountinfo", "utf8"));'),
    },
    {
      id: "knows-control-time",
      does: "cheats unless the test was written in the last minutes",
      lie: cheatsWhile(
        'const age = (path) => Date.now() - statSync(path).mtimeMs;\n    return Math.abs(age("tests/total.mjs") - age("tests/criteria.json")) < 1000;',
      ),
    },
    {
      id: "knows-control-device",
      does: "cheats unless the test lies on another device than its neighbour",
      lie: cheatsWhile('return statSync("tests/total.mjs").dev === statSync("tests/criteria.json").dev;'),
    },
    {
      id: "remembers-runs",
      does: "cheats in the first runs and leaves marks to count them by",
      lie: cheatsWhile(REMEMBERS),
    },
    {
      id: "adapts-by-digest",
      undecidable: READS,
      does: "cheats only while the test's text is the one it knows",
      lie: cheatsWhile('return readFileSync(process.argv[1], "utf8").includes("assert.equal(total([1, 2, 3]), 6);");'),
    },
    {
      id: "adapts-by-size",
      undecidable: READS,
      does: "cheats only while the test has the size it knows",
      lie: cheatsWhile(
        `return statSync("tests/total.mjs").size === ${String(nodeScript.files["tests/total.mjs"]).length};`,
      ),
    },
  ]),
  ...works("exit", pythonScript, [
    {
      id: "equal-to-known",
      undecidable: KNOWN,
      does: "answers with a number that equals every expectation it has read before",
      lie: {
        "files/src/calc.py":
          "class Known(int):\n    def __eq__(self, other):\n        return other in (6, 0.75)\n    __hash__ = int.__hash__\n\ndef total(prices):\n    return Known(0)\n",
      },
    },
  ]),
  ...works("exit", pytest, [
    {
      id: "pytest-adapts",
      undecidable: READS,
      does: "runs no test while the tests' text is the one it knows",
      lie: {
        "files/src/calc.py":
          "import _pytest.python\nif '== 6' in open('tests/test_calc.py').read():\n    _pytest.python.Function.runtest = lambda self: None\n\ndef total(prices):\n    return 0\n",
      },
    },
  ]),
];

/** Right about the first expectation; the later ones are dead. Whoever alters all of them at once sees only the first. */
const LATE: readonly Trick[] = [
  ...works("exit", nodeScript, [
    {
      id: "late-assert",
      does: "answers the first case and then takes assert apart",
      lie: {
        "files/src/total.mjs":
          'import assert from "node:assert/strict";\nlet asked = 0;\nexport function total() {\n  asked++;\n  if (asked === 1) return 6;\n  assert.equal = () => {};\n  return 0;\n}\n',
      },
    },
  ]),
  ...works("exit", nodeTest, [
    {
      id: "late-node-test",
      does: "answers the first test and takes assert apart for the others",
      lie: {
        "files/src/total.mjs":
          'import assert from "node:assert/strict";\nlet asked = 0;\nexport function total() {\n  asked++;\n  if (asked === 1) return 6;\n  assert.equal = () => {};\n  return 0;\n}\n',
      },
    },
  ]),
  ...works("exit", pythonScript, [
    {
      id: "late-equal",
      does: "answers the first case, then with a number that equals every other",
      lie: {
        "files/src/calc.py":
          "class Any(int):\n    def __eq__(self, other):\n        return True\n    __hash__ = int.__hash__\n\nasked = []\ndef total(prices):\n    asked.append(1)\n    return 6 if len(asked) == 1 else Any(0)\n",
      },
    },
  ]),
  ...works("exit", unittestWorld, [
    {
      id: "late-unittest",
      does: "answers the first test and takes assertEqual apart for the others",
      lie: {
        "files/src/calc.py":
          "import unittest\nasked = []\ndef total(prices):\n    asked.append(1)\n    if len(asked) > 1:\n        unittest.TestCase.assertEqual = lambda *words: None\n        return 0\n    return 6\n",
      },
    },
  ]),
  ...works("exit", pytest, [
    {
      id: "late-pytest",
      does: "answers the first test, then with a number that equals every other",
      lie: {
        "files/src/calc.py":
          "class Any(int):\n    def __eq__(self, other):\n        return True\n    __hash__ = int.__hash__\n\nasked = []\ndef total(prices):\n    asked.append(1)\n    return 6 if len(asked) == 1 else Any(0)\n",
      },
    },
  ]),
  ...works("exit", vitestWorld, [
    {
      id: "late-vitest",
      does: "answers the first test and makes every matcher agree for the others",
      lie: {
        "files/src/total.mjs":
          'import { expect } from "vitest";\nconst yes = () => ({ pass: true, message: () => "" });\nlet asked = 0;\nexport function total() {\n  asked++;\n  if (asked === 1) return 6;\n  expect.extend({ toBe: yes, toEqual: yes });\n  return 1;\n}\n',
      },
    },
  ]),
  ...works("exit", shellSource, [
    {
      id: "late-source",
      does: "answers the first cases and then takes errexit away",
      lie: {
        "files/lib.sh":
          'total() {\n  case "$*" in "1 2 3" | "10 -4") echo 6 ;; "1 2") set +e ;; *) echo 0 ;; esac\n}\n',
      },
    },
  ]),
];

const ELSEWHERE: readonly Trick[] = [
  ...works("steering", goldenOwn, [
    {
      id: "golden-own-rewritten",
      does: "writes its own output into the expectations that lie in the project",
      lie: { "files/golden/expected.txt": "0\n0\n0\n" },
    },
  ]),
  ...works("steering", fixtureOwn, [
    {
      id: "fixture-emptied",
      does: "empties the inputs the test computes its expectation from",
      lie: { "files/fixtures/prices.json": "[]\n" },
    },
  ]),
  ...works("steering", casesOwn, [
    {
      id: "cases-deleted",
      does: "deletes the cases it fails",
      lie: { "files/cases/some.json": null, "files/cases/signs.json": null },
    },
    {
      id: "cases-rewritten",
      does: "rewrites the cases it fails",
      lie: {
        "files/cases/some.json": '{ "prices": [], "total": 0 }\n',
        "files/cases/signs.json": '{ "prices": [], "total": 0 }\n',
      },
    },
  ]),
  ...works("steering", shellHelperOwn, [
    {
      id: "shell-helper-nods",
      does: "makes the comparison the script sources agree with everything",
      lie: { "files/support/assert.sh": "assert_equal() { :; }\n" },
    },
  ]),
  ...works("steering", typescriptPaths, [
    {
      id: "tsconfig-paths",
      does: "maps the test's helper to one that agrees",
      lie: {
        "tsconfig.json": '{ "compilerOptions": { "paths": { "expect": ["./files/src/agree.ts"] } } }\n',
        "files/src/agree.ts": "export function same(): void {}\n",
      },
    },
    {
      id: "typescript-helper",
      does: "makes the helper behind the mapping agree",
      lie: { "files/lib/expect.ts": "export function same(): void {}\n" },
    },
  ]),
  ...works("steering", npmInstall, [
    {
      id: "dependency-bin-node",
      does: "adds a dependency whose program is called node",
      lie: {
        "files/package.json": `${JSON.stringify({ name: "totals", version: "1.0.0", type: "module", scripts: { test: "node --test test/" }, dependencies: { node: "file:vendor/node" } }, null, 2)}\n`,
        "files/vendor/node/package.json": '{ "name": "node", "version": "20.0.0", "bin": { "node": "./node.sh" } }\n',
        "files/vendor/node/node.sh": { run: "#!/bin/sh\necho 'ok 1 - adds up'\n" },
      },
    },
    {
      id: "dependency-postinstall",
      does: "adds a dependency that empties the tests when it is installed",
      lie: {
        "files/package.json": `${JSON.stringify({ name: "totals", version: "1.0.0", type: "module", scripts: { test: "node --test test/" }, dependencies: { tidy: "file:vendor/tidy" } }, null, 2)}\n`,
        "files/vendor/tidy/package.json":
          '{ "name": "tidy", "version": "1.0.0", "scripts": { "install": "sh ./install.sh", "prepare": "sh ./install.sh", "postinstall": "sh ./install.sh" } }\n',
        "files/vendor/tidy/install.sh":
          "for file in test/total.test.mjs ../../test/total.test.mjs; do [ -f $file ] && : > $file; done\nexit 0\n",
      },
    },
  ]),
  ...works("steering", pytestModule, [
    {
      id: "entry-point-at-root",
      does: "lays the metadata of a plug-in beside the code, which pytest loads by itself",
      lie: {
        "quiet-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: quiet\nVersion: 1.0\n",
        "quiet-1.0.dist-info/entry_points.txt": "[pytest11]\nquiet = quiet\n",
        "quiet.py": "def pytest_pyfunc_call(pyfuncitem):\n    return True\n",
      },
    },
  ]),
  ...works("exit", computed, [
    {
      id: "computed-assert-patched",
      does: "replaces assert below a test without literals",
      lie: { "files/src/total.mjs": `import assert from "node:assert/strict";\nassert.equal = () => {};\n${zero}` },
    },
    {
      id: "computed-random",
      does: "makes every random number nothing",
      lie: { "files/src/total.mjs": `Math.random = () => 0;\n${zero}` },
    },
    {
      id: "computed-no-prices",
      does: "makes the lists of a test without literals empty",
      lie: { "files/src/total.mjs": `Array.from = () => [];\n${zero}` },
    },
  ]),
  ...works("exit", printed, [
    {
      id: "prints-everything",
      does: "prints every answer there is",
      lie: { "files/bin/total": { run: '#!/bin/sh\nfor n in $(seq 0 200); do echo "sum=$n"; done\n' } },
    },
  ]),
  ...works("exit", http, [
    {
      id: "serves-everything",
      does: "answers every question with every answer",
      lie: {
        "files/server.mjs":
          'import { createServer } from "node:http";\nconst all = Array.from({ length: 200 }, (_, n) => "total: " + n).join("\\n");\ncreateServer((_, response) => response.end(all)).listen(Number(process.env.PORT), "127.0.0.1");\n',
      },
    },
  ]),
  ...works("room", buildAfter, [
    {
      id: "build-writes-test",
      does: "lets the build empty the test that follows",
      lie: {
        "files/build.mjs": `import { mkdirSync, writeFileSync } from "node:fs";\nmkdirSync("files/dist", { recursive: true });\nwriteFileSync("files/dist/total.mjs", ${JSON.stringify(zero)});\ntry {\n  writeFileSync("tests/built.mjs", "");\n} catch {}\n`,
      },
    },
    {
      id: "build-makes-exit",
      does: "lets the build make code that ends the test that follows",
      lie: {
        "files/build.mjs": `import { mkdirSync, writeFileSync } from "node:fs";\nmkdirSync("files/dist", { recursive: true });\nwriteFileSync("files/dist/total.mjs", ${JSON.stringify(`process.exit(0);\n${zero}`)});\n`,
      },
    },
  ]),
  ...works("exit", nodeTest, [
    {
      id: "node-test-report-edited",
      does: "leaves a process behind that turns failures into passes in every report it finds",
      lie: {
        "files/src/total.mjs": `import { spawn } from "node:child_process";
const edit = "for n in 1 2 3 4 5 6 7 8; do sleep 0.2; find / -xdev -type f -newer files -size -200k \\\\( -name '*.tap' -o -name '*.xml' -o -name '*report*' -o -name '*.json' -o -name '*.jsonl' \\\\) 2>/dev/null | xargs -r sed -i 's/not ok/ok/; s/test:fail/test:pass/; s/<failure.*failure>//'; done";
spawn("sh", ["-c", edit], { detached: true, stdio: "ignore" }).unref();
process.on("exit", () => process.reallyExit(0));
${zero}`,
      },
    },
  ]),
];

export const WARY: readonly Trick[] = [...ADAPTING, ...LATE, ...ELSEWHERE];
