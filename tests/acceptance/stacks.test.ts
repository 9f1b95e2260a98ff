// Honest work in the stacks people use: each passes in the room, is proven, and fails before.
import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, it } from "vitest";
import { findProgram } from "../../src/process/index.js";
import { usePlainPytest } from "./plain-pytest.js";
import { type Bench, bench } from "./room.js";

const has = (...programs: string[]) => programs.every((program) => findProgram(program, process.env) !== null);

usePlainPytest();

let open: Bench[] = [];
afterEach(() => {
  for (const { remove } of open) remove();
  open = [];
});

interface Stack {
  readonly needs: readonly string[];
  readonly criterion: object;
  readonly files: Readonly<Record<string, string>>;
  readonly work: Readonly<Record<string, string>>;
  /** Packages that are linked into node_modules. */
  readonly packages?: readonly string[];
}

const ADD_JS = { wrong: "export const add = () => 0;\n", right: "export const add = (a, b) => a + b;\n" };

const STACKS: Readonly<Record<string, Stack>> = {
  "node:test": {
    needs: ["node"],
    criterion: { type: "node-test", script: "tests/add.test.mjs" },
    files: {
      "tests/add.test.mjs":
        'import { test } from "node:test";\nimport assert from "node:assert";\nimport { add } from "../files/add.mjs";\ntest("adds", () => assert.equal(add(1, 2), 3));\n',
      "files/add.mjs": ADD_JS.wrong,
    },
    work: { "files/add.mjs": ADD_JS.right },
  },
  vitest: {
    needs: ["node"],
    criterion: { type: "vitest", script: "tests/add.test.ts" },
    files: {
      "tests/add.test.ts":
        'import { expect, it } from "vitest";\nimport { add } from "../files/add.js";\nit("adds", () => expect(add(1, 2)).toBe(3));\n',
      "vitest.config.ts": 'import { defineConfig } from "vitest/config";\nexport default defineConfig({ test: {} });\n',
      "package.json": '{"type":"module"}',
      "files/add.js": ADD_JS.wrong,
    },
    work: { "files/add.js": ADD_JS.right },
    packages: ["vitest"],
  },
  pytest: {
    needs: ["pytest"],
    criterion: { type: "pytest", script: "tests/test_add.py" },
    files: {
      "tests/test_add.py": "from files.add import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n",
      "conftest.py": "",
      "files/add.py": "def add(a, b):\n    return 0\n",
    },
    work: { "files/add.py": "def add(a, b):\n    return a + b\n" },
  },
  "make and gcc": {
    needs: ["make", "gcc"],
    criterion: { type: "shell", script: "tests/app.sh" },
    files: {
      Makefile: "app: app.c\n\tgcc -o app app.c\n",
      "tests/app.sh": 'make -s app && [ "$(./app)" = 3 ]\n',
      "app.c": '#include <stdio.h>\nint main(void) { printf("0\\n"); return 0; }\n',
    },
    work: { "app.c": '#include <stdio.h>\nint main(void) { printf("%d\\n", 1 + 2); return 0; }\n' },
  },
  "make that runs a shell test": {
    needs: ["make"],
    criterion: { type: "shell", command: "make -s -C files check" },
    files: {
      "files/Makefile": "check:\n\tsh ../tests/check.sh\n",
      "files/add.sh": "echo 0\n",
      "tests/check.sh": 'set -eu\n[ "$(sh add.sh 1 2)" = 3 ]\necho right\n',
    },
    work: { "files/add.sh": "echo $(($1 + $2))\n" },
  },
  "a helper outside the tests": {
    needs: ["node"],
    criterion: { type: "shell", command: "node tests/add.mjs" },
    files: {
      "files/lib/expect.mjs":
        "export function same(got, wanted) {\n  if (got !== wanted) throw new Error(String(got));\n}\n",
      "tests/add.mjs":
        'import { same } from "../files/lib/expect.mjs";\nimport { add } from "../files/add.mjs";\nsame(add(1, 2), 3);\n',
      "files/add.mjs": ADD_JS.wrong,
    },
    work: { "files/add.mjs": ADD_JS.right },
  },
  cargo: {
    needs: ["cargo"],
    criterion: { type: "shell", command: "cargo test --offline --quiet" },
    files: {
      "Cargo.toml": '[package]\nname = "add"\nversion = "0.1.0"\nedition = "2021"\n',
      "src/lib.rs": "pub fn add(_a: i32, _b: i32) -> i32 {\n    0\n}\n",
      "tests/add.rs": "#[test]\nfn adds() {\n    assert_eq!(add::add(1, 2), 3);\n}\n",
    },
    work: { "src/lib.rs": "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n" },
  },
  go: {
    needs: ["go"],
    criterion: { type: "go-test", script: "add_test.go" },
    files: {
      "go.mod": "module add\n\ngo 1.19\n",
      "add.go": "package add\n\nfunc Add(a, b int) int { return 0 }\n",
      "add_test.go":
        'package add\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tif got := Add(1, 2); got != 3 {\n\t\tt.Errorf("got %d, want 3", got)\n\t}\n}\n',
    },
    work: { "add.go": "package add\n\nfunc Add(a, b int) int { return a + b }\n" },
  },
  java: {
    needs: ["javac", "java"],
    criterion: { type: "shell", command: 'javac -d out src/Add.java && [ "$(java -cp out Add)" = 3 ]' },
    files: {
      "src/Add.java": "public class Add { public static void main(String[] a) { System.out.println(0); } }\n",
    },
    work: {
      "src/Add.java": "public class Add { public static void main(String[] a) { System.out.println(1 + 2); } }\n",
    },
  },
  "a repository of its own": {
    needs: ["git"],
    criterion: { type: "shell", script: "tests/log.sh" },
    files: {
      "tests/log.sh":
        'set -e\ncd "$(mktemp -d)"\ngit init -q .\nsh "$OLDPWD/files/commit.sh"\n[ "$(git log --format=%s)" = "first" ]\n',
      "files/commit.sh": "true\n",
    },
    work: { "files/commit.sh": "echo a > a\ngit add a\ngit commit -qm first\n" },
  },
  chromium: {
    needs: ["chromium", "node"],
    criterion: { type: "shell", script: "tests/page.sh" },
    files: {
      "tests/page.sh":
        'text=$(chromium --headless --no-sandbox --disable-gpu --dump-dom "file://$PWD/files/page.html" 2>/dev/null)\ncase $text in *"<p>3</p>"*) ;; *) echo "no 3: $text"; exit 1 ;; esac\n',
      "files/page.html": "<p>0</p>\n",
    },
    work: { "files/page.html": "<script>document.write('<p>' + (1 + 2) + '</p>')</script>\n" },
  },
};

for (const [name, { needs, criterion, files, work, packages = [] }] of Object.entries(STACKS)) {
  it.skipIf(!has(...needs))(
    `proves ${name} (needs ${needs.join(", ")})`,
    async () => {
      const made = bench([{ id: "AC-1", ...criterion }], files, work);
      open.push(made);
      for (const root of [made.request, made.result]) {
        for (const each of packages) linkPackage(root, each);
      }
      const { results, verdict } = await made.accept({ trials: 1 });
      expect({ verdict, ...results[0] }).toMatchObject({ verdict: "passed", status: "passed", before: "failed" });
    },
    300_000,
  );
}

function linkPackage(root: string, name: string): void {
  const modules = fileURLToPath(new URL("../../node_modules", import.meta.url));
  mkdirSync(join(root, "node_modules/.bin"), { recursive: true });
  symlinkSync(join(modules, name), join(root, "node_modules", name));
  symlinkSync(`../${name}/${name}.mjs`, join(root, "node_modules/.bin", name));
}

// Programs of this package are visible in a room when they are on PATH, as they are under npm.
process.env.PATH = `${join(dirname(fileURLToPath(import.meta.url)), "../../node_modules/.bin")}:${process.env.PATH}`;
