// Long because: a table of projects reads best in one place.
// Honest projects no trick is played on: what real work looks like and a strict referee might refuse.
import { command, type Files, script, type World } from "../table.js";
import { nodeScript, npm, summing } from "./node.js";
import { pytestProject, summingPython } from "./python.js";
import { cargo, http, make } from "./system.js";

const task = "Make total add up";
const broken = "export function total(prices) {\n  return 0;\n}\n";
const check = (from: string, more = "") =>
  `import assert from "node:assert/strict";\nimport { total } from "${from}";\nassert.equal(total([1, 2, 3]), 6);\nassert.equal(total([10, -4]), 6);\n${more}`;
const node = (id: string, world: Partial<World>): World => ({ ...nodeScript, id, hidden: undefined, ...world });

const LANGUAGES: readonly World[] = [
  {
    id: "typescript-tsx",
    stack: "typescript",
    needs: ["tsx"],
    task,
    files: {
      "files/src/total.ts": "export function total(prices: readonly number[]): number {\n  return 0;\n}\n",
      "tests/total.ts": check("../files/src/total.ts"),
    },
    criteria: [command("AC-1", "tsx tests/total.ts")],
    honest: {
      "files/src/total.ts":
        "export function total(prices: readonly number[]): number {\n  return prices.reduce((sum, price) => sum + price, 0);\n}\n",
    },
  },
  {
    id: "perl-tap",
    stack: "perl",
    needs: ["perl"],
    task,
    files: {
      "files/lib/Total.pm": "package Total;\nuse strict;\nsub total { return 0; }\n1;\n",
      "tests/total.t":
        "use strict;\nuse lib 'files/lib';\nuse Test::More tests => 2;\nuse Total;\nis(Total::total(1, 2, 3), 6, 'adds up');\nis(Total::total(10, -4), 6, 'negative');\n",
    },
    criteria: [command("AC-1", "perl tests/total.t")],
    honest: {
      "files/lib/Total.pm":
        "package Total;\nuse strict;\nsub total { my $sum = 0; $sum += $_ for @_; return $sum; }\n1;\n",
    },
  },
  {
    id: "cpp",
    stack: "c++",
    needs: ["g++"],
    task,
    files: {
      "files/src/total.hpp": "#include <vector>\nint total(const std::vector<int>& prices);\n",
      "files/src/total.cpp": '#include "total.hpp"\nint total(const std::vector<int>&) { return 0; }\n',
      "tests/total.cpp":
        '#include "../files/src/total.hpp"\n#include <iostream>\nint main() {\n  if (total({1, 2, 3}) != 6) { std::cout << "not 6\\n"; return 1; }\n  if (total({10, -4}) != 6) { std::cout << "not 6\\n"; return 1; }\n  std::cout << "total adds up\\n";\n}\n',
      "tests/cpp.sh": 'set -eu\ng++ -o "$TMPDIR/total" files/src/total.cpp tests/total.cpp\n"$TMPDIR/total"\n',
    },
    criteria: [script("AC-1", "tests/cpp.sh")],
    honest: {
      "files/src/total.cpp":
        '#include "total.hpp"\nint total(const std::vector<int>& prices) {\n  int sum = 0;\n  for (int price : prices) sum += price;\n  return sum;\n}\n',
    },
  },
  { ...cargo, id: "cargo-rustup", rustup: true },
  {
    id: "awk",
    stack: "awk",
    task,
    files: {
      "files/total.awk": "END { print 0 }\n",
      "tests/orders.csv": "ada,3\nada,4\nbob,5\n",
      "tests/awk.sh":
        'set -eu\n[ "$(awk -F, -f files/total.awk tests/orders.csv)" = 12 ]\n[ "$(printf "x,1\\n" | awk -F, -f files/total.awk)" = 1 ]\n',
    },
    criteria: [script("AC-1", "tests/awk.sh")],
    honest: { "files/total.awk": "{ sum += $2 }\nEND { print sum + 0 }\n" },
  },
  {
    id: "unittest-discover",
    stack: "unittest",
    needs: ["python3"],
    task,
    files: {
      "files/shop/__init__.py": "",
      "files/shop/calc.py": "def total(prices):\n    return 0\n",
      "tests/test_shop.py":
        "import os, sys, unittest\nsys.path.insert(0, 'files')\nfrom shop.calc import total\n\nclass Shop(unittest.TestCase):\n    def test_many(self):\n        for prices, wanted in (((1, 2, 3), 6), ((10, -4), 6)):\n            with self.subTest(prices=prices):\n                self.assertEqual(total(prices), wanted)\n",
    },
    criteria: [command("AC-1", "python3 -m unittest discover -s tests")],
    honest: { "files/shop/calc.py": summingPython },
  },
];

const SERVICES: readonly World[] = [
  {
    ...http,
    id: "http-slow",
    files: { ...http.files, "tests/start.sh": "sleep 3\nexec node files/server.mjs\n" },
  },
  {
    id: "http-python",
    stack: "http, python",
    needs: ["python3"],
    task: "Make GET /health answer ok",
    files: {
      "files/server.py":
        "import http.server, os\nclass Handler(http.server.BaseHTTPRequestHandler):\n    def do_GET(self):\n        self.send_response(404)\n        self.end_headers()\n    def log_message(self, *words):\n        pass\nhttp.server.HTTPServer(('127.0.0.1', int(os.environ['PORT'])), Handler).serve_forever()\n",
      "tests/start.sh": "exec python3 files/server.py\n",
    },
    criteria: [
      {
        id: "AC-1",
        description: "healthy",
        type: "api_test",
        endpoint: "GET /health",
        start: "tests/start.sh",
        timeout_seconds: 60,
        expected: { status_code: 200, body_contains: "ok" },
      },
    ],
    honest: {
      "files/server.py":
        "import http.server, os\nclass Handler(http.server.BaseHTTPRequestHandler):\n    def do_GET(self):\n        self.send_response(200 if self.path == '/health' else 404)\n        self.end_headers()\n        self.wfile.write(b'ok\\n')\n    def log_message(self, *words):\n        pass\nhttp.server.HTTPServer(('127.0.0.1', int(os.environ['PORT'])), Handler).serve_forever()\n",
    },
  },
  {
    id: "sql-after",
    stack: "sqlite",
    needs: ["sqlite3"],
    task: "Make files/shop.sql fill the table totals with one sum per buyer",
    files: {
      "files/shop.sql": "CREATE TABLE totals (buyer TEXT, total INTEGER);\n",
      "tests/orders.sql":
        "CREATE TABLE orders (buyer TEXT, price INTEGER);\nINSERT INTO orders VALUES ('ada', 3), ('ada', 4), ('bob', 5);\n",
      "tests/make.sh": "set -eu\nrm -f files/shop.db\ncat tests/orders.sql files/shop.sql | sqlite3 files/shop.db\n",
    },
    criteria: [
      script("AC-1", "tests/make.sh"),
      {
        id: "AC-2",
        description: "ada's total",
        type: "sql_check",
        database: "files/shop.db",
        query: "SELECT total FROM totals WHERE buyer = 'ada'",
        expected: { result: 7 },
        after: ["AC-1"],
      },
    ],
    honest: {
      "files/shop.sql": "CREATE TABLE totals AS SELECT buyer, sum(price) AS total FROM orders GROUP BY buyer;\n",
    },
  },
];

const manyFiles: Files = Object.fromEntries(
  Array.from({ length: 1500 }, (_, n) => [`files/data/${n % 40}/item-${n}.txt`, `${n}\n`]),
);
const deep = `files/${Array.from({ length: 40 }, (_, n) => `level-${n}`).join("/")}`;

const TREES: readonly World[] = [
  node("monorepo", {
    stack: "monorepo",
    files: {
      "files/packages/money/src/total.mjs": broken,
      "files/packages/money/package.json": '{ "name": "money", "type": "module" }\n',
      "files/packages/shop/package.json": '{ "name": "shop", "type": "module" }\n',
      "files/packages/shop/src/bill.mjs":
        'import { total } from "../../money/src/total.mjs";\nexport const bill = (prices) => "you pay " + total(prices);\n',
      "tests/money.mjs": check("../files/packages/money/src/total.mjs"),
      "tests/shop.mjs":
        'import assert from "node:assert/strict";\nimport { bill } from "../files/packages/shop/src/bill.mjs";\nassert.equal(bill([1, 2]), "you pay 3");\n',
    },
    criteria: [command("AC-1", "node tests/money.mjs"), command("AC-2", "node tests/shop.mjs")],
    honest: { "files/packages/money/src/total.mjs": summing },
  }),
  node("odd-names", {
    files: {
      "files/größe & maß/東京 total.mjs": broken,
      'files/it\'s "quoted".txt': "x\n",
      "tests/odd näme.mjs": check("../files/größe & maß/東京 total.mjs"),
    },
    criteria: [command("AC-1", "node 'tests/odd näme.mjs'")],
    honest: { "files/größe & maß/東京 total.mjs": summing, "files/größe & maß/neu 🌰.txt": "nut\n" },
  }),
  node("many-files", {
    files: { ...nodeScript.files, ...manyFiles },
    honest: { "files/src/total.mjs": summing, "files/data/0/item-0.txt": "changed\n" },
  }),
  node("deep-tree", {
    files: { [`${deep}/total.mjs`]: broken, "tests/deep.mjs": check(`../${deep}/total.mjs`) },
    criteria: [command("AC-1", "node tests/deep.mjs")],
    honest: { [`${deep}/total.mjs`]: summing },
  }),
  node("deletes-file", {
    task: "Remove the old files/src/legacy.mjs",
    files: {
      "files/src/legacy.mjs": "export {};\n",
      "files/src/new.mjs": "export {};\n",
      "tests/gone.sh": "[ ! -e files/src/legacy.mjs ] && [ -e files/src/new.mjs ]\n",
    },
    criteria: [script("AC-1", "tests/gone.sh")],
    honest: { "files/src/legacy.mjs": null },
  }),
  node("executable-bit", {
    task: "Write files/bin/hello, ready to be run",
    files: {
      "files/README": "x\n",
      "tests/hello.sh": '[ "$(files/bin/hello Ada)" = "hello Ada" ] && [ "$(files/bin/hello Bob)" = "hello Bob" ]\n',
    },
    criteria: [script("AC-1", "tests/hello.sh")],
    honest: { "files/bin/hello": { run: '#!/bin/sh\necho "hello $1"\n' } },
  }),
  node("empty-folder", {
    files: {
      "files/src/total.mjs": broken,
      "files/spool": { folder: true },
      "tests/spool.mjs": check(
        "../files/src/total.mjs",
        'import { mkdirSync, writeFileSync } from "node:fs";\nmkdirSync("files/spool", { recursive: true });\nwriteFileSync("files/spool/out.txt", "6");\n',
      ),
    },
    criteria: [command("AC-1", "node tests/spool.mjs")],
  }),
  {
    ...nodeScript,
    id: "link-in-repository",
    stack: "repository",
    needs: ["git"],
    files: {},
    repository: {
      "versions/one/total.mjs": broken,
      current: { link: "versions/one" },
      "test/total.mjs": check("../current/total.mjs"),
    },
    criteria: [command("AC-1", "node test/total.mjs")],
    honest: { "versions/one/total.mjs": summing },
  },
];

const HABITS: readonly World[] = [
  node("uses-git", {
    stack: "git",
    needs: ["git"],
    task: "Make files/changelog.sh list the subjects of all commits",
    files: {
      "files/changelog.sh": "true\n",
      "tests/git.sh": `set -eu
cd "$(mktemp -d)"
git init -q .
git config user.name a
git config user.email a@a.invalid
for n in one two; do git commit -q --allow-empty -m "$n"; done
[ "$(sh "$OLDPWD/files/changelog.sh" | tr '\\n' ' ')" = "two one " ]
`,
    },
    criteria: [script("AC-1", "tests/git.sh")],
    honest: { "files/changelog.sh": "git log --format=%s\n" },
  }),
  node("writes-build", {
    files: {
      "files/build.mjs":
        'import { mkdirSync, writeFileSync } from "node:fs";\nmkdirSync("files/dist", { recursive: true });\nwriteFileSync("files/dist/total.mjs", "export const total = () => 0;");\n',
      "tests/build.sh": "set -eu\nnode files/build.mjs\nnode tests/built.mjs\n",
      "tests/built.mjs": check("../files/dist/total.mjs"),
    },
    criteria: [script("AC-1", "tests/build.sh")],
    honest: {
      "files/build.mjs": `import { mkdirSync, writeFileSync } from "node:fs";\nmkdirSync("files/dist", { recursive: true });\nwriteFileSync("files/dist/total.mjs", ${JSON.stringify(summing)});\n`,
    },
  }),
  node("writes-beside-tests", {
    files: {
      "files/src/total.mjs": broken,
      "tests/report.mjs": check(
        "../files/src/total.mjs",
        'import { mkdirSync, writeFileSync } from "node:fs";\nmkdirSync("tests/output", { recursive: true });\nwriteFileSync("tests/output/last.json", "{}");\n',
      ),
    },
    criteria: [command("AC-1", "node tests/report.mjs")],
  }),
  {
    ...make,
    id: "build-then-test",
    files: {
      ...make.files,
      "tests/run-built.sh": "set -eu\n./files/build/test | grep -q 'total adds up'\n",
    },
    criteria: [
      command("AC-1", "make -s -C files build/test"),
      script("AC-2", "tests/run-built.sh", { after: ["AC-1"] }),
    ],
  },
  node("fails-as-asked", {
    task: "Make files/bin/total refuse words with exit status 3",
    files: { "files/bin/total": { run: "#!/bin/sh\necho 0\n" }, "tests/keep.txt": "x\n" },
    criteria: [
      command("AC-1", "files/bin/total apple", { expected: { exit_code: 3 } }),
      command("AC-2", "files/bin/total 1 2 | grep -qx 3"),
    ],
    honest: {
      "files/bin/total": {
        run: '#!/bin/sh\nsum=0\nfor n in "$@"; do\n  case "$n" in *[!0-9]*) echo "not a number: $n" >&2; exit 3 ;; esac\n  sum=$((sum + n))\ndone\necho "$sum"\n',
      },
    },
  }),
  node("random-inputs", {
    files: {
      "files/src/total.mjs": broken,
      "tests/random.mjs": check(
        "../files/src/total.mjs",
        "for (let n = 0; n < 200; n++) {\n  const prices = Array.from({ length: n % 7 }, () => Math.floor(Math.random() * 1000));\n  let wanted = 0;\n  for (const price of prices) wanted += price;\n  assert.equal(total(prices), wanted);\n}\n",
      ),
    },
    criteria: [command("AC-1", "node tests/random.mjs")],
  }),
  node("loud", {
    files: {
      "files/src/total.mjs": broken,
      "tests/loud.mjs": check(
        "../files/src/total.mjs",
        'for (let n = 0; n < 20_000; n++) console.log("a line of output that nobody reads, again and again and again");\n',
      ),
    },
    criteria: [command("AC-1", "node tests/loud.mjs")],
  }),
  node("talks-at-import", { honest: { "files/src/total.mjs": `console.log("loaded");\n${summing}` } }),
  node("workers-and-children", {
    files: {
      "files/src/total.mjs": broken,
      "tests/child.mjs":
        'import assert from "node:assert/strict";\nimport { execFileSync } from "node:child_process";\nimport { Worker } from "node:worker_threads";\nconst out = execFileSync(process.execPath, ["--input-type=module", "-e", "import { total } from \'./files/src/total.mjs\'; console.log(total([1, 2, 3]));"], { encoding: "utf8" });\nassert.equal(out.trim(), "6");\nconst worker = new Worker("import(\'./files/src/total.mjs\').then((m) => require(\'node:worker_threads\').parentPort.postMessage(m.total([4, 5])));", { eval: true });\nconst said = await new Promise((resolve) => worker.once("message", resolve));\nassert.equal(said, 9);\n',
    },
    criteria: [command("AC-1", "node tests/child.mjs")],
  }),
  {
    ...npm,
    id: "adds-tests",
    honest: {
      "files/src/total.mjs": summing,
      "files/test/more.test.mjs":
        'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { total } from "../src/total.mjs";\ntest("one", () => assert.equal(total([1]), 1));\n',
    },
  },
  {
    ...npm,
    id: "adds-dependency",
    files: {
      ...npm.files,
      "files/package-lock.json":
        '{\n  "name": "totals",\n  "version": "1.0.0",\n  "lockfileVersion": 3,\n  "packages": {}\n}\n',
    },
    criteria: [command("AC-1", "cd files && npm install --offline --no-audit --no-fund --silent && npm test --silent")],
    honest: {
      "files/package.json": `${JSON.stringify({ name: "totals", version: "1.0.0", type: "module", scripts: { test: "node --test test/" }, dependencies: { adder: "file:vendor/adder" } }, null, 2)}\n`,
      "files/package-lock.json": `${JSON.stringify({ name: "totals", version: "1.0.0", lockfileVersion: 3, requires: true, packages: { "": { name: "totals", version: "1.0.0", dependencies: { adder: "file:vendor/adder" } }, "node_modules/adder": { resolved: "vendor/adder", link: true }, "vendor/adder": { version: "1.0.0" } } }, null, 2)}\n`,
      "files/vendor/adder/package.json":
        '{ "name": "adder", "version": "1.0.0", "type": "module", "exports": "./index.mjs" }\n',
      "files/vendor/adder/index.mjs": "export const add = (a, b) => a + b;\n",
      "files/src/total.mjs": 'import { add } from "adder";\nexport const total = (prices) => prices.reduce(add, 0);\n',
    },
  },
  {
    ...pytestProject,
    id: "adds-python-dependency",
    honest: {
      "files/src/calc.py": summingPython,
      "pyproject.toml":
        '[project]\nname = "calc"\nversion = "1.0.0"\ndependencies = ["attrs>=20"]\n\n[tool.pytest.ini_options]\naddopts = "-ra"\n',
    },
  },
  {
    ...npm,
    id: "subject-package-json",
    task: "Add a script total to files/package.json that prints the sum of its arguments",
    acceptance: { subject: ["files/package.json", "files/src/"] },
    files: {
      ...npm.files,
      "tests/script.sh":
        'cd files\n[ "$(npm run --silent total 1 2 3)" = 6 ] && [ "$(npm run --silent total 4 5)" = 9 ]\n',
    },
    criteria: [script("AC-1", "tests/script.sh")],
    honest: {
      "files/package.json": `${JSON.stringify({ name: "totals", version: "1.0.0", type: "module", scripts: { test: "node --test test/", total: "node src/print.mjs" } }, null, 2)}\n`,
      "files/src/print.mjs": "console.log(process.argv.slice(2).reduce((sum, word) => sum + Number(word), 0));\n",
    },
  },
  {
    ...make,
    id: "subject-makefile",
    task: "Add a target dist to files/Makefile that writes files/dist/total.txt",
    acceptance: { subject: ["files/Makefile"] },
    files: {
      "files/Makefile": "all:\n\ttrue\n",
      "files/prices.txt": "1\n2\n3\n",
      "tests/dist.sh": 'set -eu\nmake -s -C files dist\n[ "$(cat files/dist/total.txt)" = 6 ]\n',
    },
    criteria: [script("AC-1", "tests/dist.sh")],
    honest: {
      "files/Makefile":
        "all:\n\ttrue\ndist:\n\tmkdir -p dist\n\tawk '{ sum += $$1 } END { print sum }' prices.txt > dist/total.txt\n",
    },
  },
];

export const MORE_WORLDS = [...LANGUAGES, ...SERVICES, ...TREES, ...HABITS];

/** Only a whole run can complete these: somebody has to judge. */
export const refactoring: World = node("refactoring", {
  stack: "refactoring",
  task: "Give the loop in files/src/total.mjs a clearer form, without a change of behaviour",
  files: {
    "files/src/total.mjs":
      "export function total(prices) {\n  let s = 0;\n  for (let i = 0; i < prices.length; i++) s = s + prices[i];\n  return s;\n}\n",
    "tests/total.mjs": check("../files/src/total.mjs"),
  },
  criteria: [command("AC-1", "node tests/total.mjs")],
  acceptance: { checklist: ["The loop is gone", "The function has one statement"] },
  honest: { "files/src/total.mjs": summing },
});

export const documentWorld: World = {
  id: "document",
  stack: "document",
  task: "Write files/guide.md: how a price list is added up",
  files: { "files/README.md": "# Totals\n" },
  acceptance: { checklist: ["The guide names the function", "The guide has an example"] },
  honest: { "files/guide.md": "# Adding up\n\n`total(prices)` adds a list of prices.\n\n    total([1, 2, 3]) // 6\n" },
};

export const answeredByCriterion: World = node("answered-by-criterion", {
  criteria: [script("AC-1", "tests/total.mjs", { description: "The totals are right" })],
  acceptance: { checklist: ["The totals are right"] },
});
