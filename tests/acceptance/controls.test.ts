import { describe, expect, it } from "vitest";
import { controlsFor, standIns, suppliedControls } from "../../src/acceptance/controls/index.js";
import { ALTERED } from "../../src/acceptance/controls/text/marks.js";
import type { Control } from "../../src/acceptance/model.js";
import type { TreeView } from "../../src/acceptance/runners/index.js";
import { checkOf } from "./runner-room.js";

const viewOf = (files: Readonly<Record<string, string>>): TreeView => ({
  exists: (path) => path in files,
  read: (path) => files[path] ?? null,
  list: (folder) => {
    const inside = Object.keys(files).filter((path) => folder === "" || path.startsWith(`${folder}/`));
    const names = inside.map((path) => (folder === "" ? path : path.slice(folder.length + 1)).split("/"));
    return [...new Set(names.map(([name, ...rest]) => (rest.length > 0 ? `${name}/` : name!)))];
  },
});
const text = (control: Control | undefined, path: string): string =>
  Buffer.from(control?.files.get(path) ?? "").toString("utf8");

describe("controls of a runner", () => {
  const test = (name: string, body: string) => `test("${name}", () => { ${body} });\n`;
  const file = `import test from "node:test";\nimport assert from "node:assert";\nimport { f } from "../f.mjs";\n${test("literal", "assert.equal(f(), 5);")}${test("nothing", "f();")}${test("perhaps", "if (process.env.X) assert.equal(f(), 5);")}`;
  const view = viewOf({ "tests/f.test.mjs": file });
  const seen = ["literal", "nothing", "perhaps"].map((name) => ({
    id: `tests/f.test.mjs > ${name}`,
    status: "passed" as const,
  }));
  const made = controlsFor(checkOf({ kind: "node-test", script: "tests/f.test.mjs" }), view, seen);

  it("must fail the tests whose expectations always run, and no other", () => {
    expect(made[0]).toMatchObject({
      name: "altered expectations in tests/f.test.mjs",
      mustFail: ["tests/f.test.mjs > literal"],
    });
  });

  it("add one test, which must fail under its own name", () => {
    expect(made[1]).toMatchObject({
      name: "a failing test added to tests/f.test.mjs",
      mustFail: [expect.stringMatching(/^tests\/f\.test\.mjs > \w+$/)],
    });
    expect(text(made[1], "tests/f.test.mjs")).toContain(file.trimEnd());
  });

  it("show nothing that work could know beforehand", () => {
    const texts = made.map((control) => text(control, "tests/f.test.mjs").replace(file.trimEnd(), ""));
    expect(texts.join("\n")).not.toMatch(/nutshell|control|altered/i);
    expect(ALTERED).toMatch(/^[a-z]{10}$/);
    const again = controlsFor(checkOf({ kind: "node-test", script: "tests/f.test.mjs" }), view, seen);
    expect(again[1]!.mustFail).not.toEqual(made[1]!.mustFail);
  });

  it("are none where no test was seen", () => {
    expect(controlsFor(checkOf({ kind: "node-test", script: "tests/f.test.mjs" }), view, [])).toEqual([]);
  });
});

describe("controls of a plain check", () => {
  const named = (files: Readonly<Record<string, string>>, check: Parameters<typeof checkOf>[0]) =>
    controlsFor(checkOf(check), viewOf(files), []);

  it("alter what the script expects, and put a failing line at its end and at its own exits", () => {
    const [altered, last] = named({ "tests/a.sh": '[ "$(./x)" = 5 ] && exit 0\nexit 1\n' }, { script: "tests/a.sh" });
    expect(text(altered, "tests/a.sh")).toBe('[ "$(./x)" = 6 ] && exit 0\nexit 1\n');
    expect(text(last, "tests/a.sh")).toMatch(/&& \{ echo '\w{20}' >&2; exit 99; \}\nexit 1\n\n\{ echo/);
    expect(last?.check).toEqual({ marker: expect.stringMatching(/^\w{20}$/) });
  });

  it("do not turn a question round whose answer was altered elsewhere, and leave a list of patterns alone", () => {
    const files = {
      "tests/a.sh": '. tests/values.sh\n[ "$(./x)" = "$WANT" ]\n./x | grep -qxFf tests/want.txt\n',
      "tests/values.sh": "WANT=5\n",
    };
    const [altered] = named(files, { script: "tests/a.sh" });
    expect([...altered!.files.keys()]).toEqual(["tests/a.sh"]);
    expect(text(altered, "tests/a.sh")).toBe(files["tests/a.sh"].replace('" = "', '" != "'));
  });

  it("alter the tests a script leads to, and the files it compares with", () => {
    const files = {
      "tests/run.sh": "node tests/a.mjs\n./x | diff - tests/want.txt\n",
      "tests/a.mjs": "if (f() !== 5) process.exit(1);\n",
      "tests/want.txt": "5\n",
    };
    const [altered] = named(files, { script: "tests/run.sh" });
    expect([...altered!.files.keys()].sort()).toEqual(["tests/a.mjs", "tests/want.txt"]);
  });

  it("know a script by a name in quotes, in any letters", () => {
    const files = {
      "tests/odd näme.mjs": 'import "./größe.mjs";\n',
      "tests/größe.mjs": "if (f() !== 5) throw new Error();\n",
    };
    const [altered] = named(files, { command: "node 'tests/odd näme.mjs'" });
    expect([...altered!.files.keys()]).toEqual(["tests/größe.mjs"]);
    expect(named(files, { command: "node tests/$NAME" })).toEqual([]);
  });

  it("are none where the work runs inside the test and nothing can be altered", () => {
    expect(named({ "tests/a.py": "import calc\ncalc.self_test()\n", "calc.py": "" }, { script: "tests/a.py" })).toEqual(
      [],
    );
  });

  const guarded = (files: Readonly<Record<string, string>>, command: string) =>
    controlsFor(checkOf({ command }), { ...viewOf(files), isGuarded: (path) => path in files }, []);
  const LINES = 'test:\n\t@test "$$(sh sum.sh 1 2)" = 3\n\t@sh sum.sh 4 | grep -qx 4\n';

  it("alter each line of a target of make alone, when nothing else decides", () => {
    const made = guarded({ Makefile: LINES }, "make -s test");
    expect(made.map(({ name }) => name)).toEqual([
      "the expectation in line 2 of Makefile altered alone",
      "the expectation in line 3 of Makefile altered alone",
    ]);
    expect(text(made[0], "Makefile")).toMatch(
      /^test:\n\t@\{ test "\$\$\(sh sum\.sh 1 2\)" = 4 \|\| \{ echo '\w+''\w+' >&2; false; \}; \}\n\t@sh sum\.sh 4 \| grep -qx 4\n$/,
    );
    expect(guarded({ Makefile: `${LINES}\tsh verify.sh now\n` }, "make -s test")).toEqual([]);
  });

  it("come on top of those of tests, whatever else decides", () => {
    const files = { Makefile: `${LINES}\tsh tests/a.sh\n`, "tests/a.sh": '[ "$(sh sum.sh)" = 0 ]\n' };
    expect(guarded(files, "make test").map(({ name }) => name)).toContain(
      "the expectation in line 3 of Makefile altered alone",
    );
  });

  it("are none where a program tests the work and nothing of its tests is altered", () => {
    const Makefile = "test:\n\tsh verify.sh now\n";
    expect(guarded({ Makefile }, 'make test && [ "$(uname)" = Linux ]')).toEqual([]);
    expect(guarded({ Makefile }, '[ "$(uname)" = Linux ] && tox run')).toEqual([]);
    const read = guarded(
      { "tests/test_a.py": "def test_a():\n    assert f() == 1\n" },
      '[ "$(uname)" = Linux ] && tox run',
    );
    expect(read.length).toBeGreaterThan(0);
    expect(guarded({ Makefile: "include x\n" }, 'make && [ "$(./sum)" = 5 ]').length).toBeGreaterThan(0);
  });

  it("alter what the criterion itself expects", () => {
    const made = named(
      {},
      { kind: "api_test", endpoint: "GET /", expected: { status_code: 200, body_contains: ["ok"] } },
    );
    expect(made.map(({ check }) => check?.expected)).toEqual([
      { status_code: 201, body_contains: ["ok"] },
      { status_code: 200, body_contains: [`ok${ALTERED}`] },
    ]);
  });

  it("are none for what a person judges", () => {
    expect(named({ "tests/a.sh": "true\n" }, { script: "tests/a.sh", automatic: false })).toEqual([]);
  });
});

describe("wrong tests of the publisher", () => {
  it("are put where they belong, and left out when they are not there", () => {
    const read = (path: string) => (path === "controls/a.mjs" ? Buffer.from("wrong") : null);
    const made = suppliedControls(
      [
        { name: "off by one", files: { "tests/a.mjs": "controls/a.mjs" } },
        { name: "lost", files: { "tests/b.mjs": "none" } },
      ],
      read,
    );
    expect(made.map(({ name, mustFail }) => [name, mustFail])).toEqual([["the wrong test off by one", null]]);
    expect(text(made[0], "tests/a.mjs")).toBe("wrong");
  });
});

describe("stand-ins", () => {
  it("do nothing, or always the same", () => {
    const view = viewOf({
      "a.mjs": "export function add(a, b) { return a + b; }\nexport default add;\n",
      "b.py": "def add(a, b):\n    return a + b\n",
      "c.cjs": "module.exports = { add: (a, b) => a + b };\n",
      "d.sh": "#!/bin/sh\necho 5\n",
    });
    const made = standIns(view, ["a.mjs", "b.py", "c.cjs", "d.sh"]);
    expect(made.map(({ name }) => name)).toEqual([
      "empty files",
      "functions that return nothing",
      "functions that return 0",
      "functions that return an empty text",
      "functions that return true",
    ]);
    const zero = (path: string) => Buffer.from(made[2]!.files.get(path)!).toString("utf8");
    expect(zero("a.mjs")).toBe(
      "export function add(...args) { return 0; }\nexport default function (...args) { return 0; }\n",
    );
    expect(zero("b.py")).toBe("def add(*args, **named):\n    return 0\n");
    expect(zero("c.cjs")).toContain("module.exports.add = (...args) => 0;\n");
    expect(Buffer.from(made[0]!.files.get("d.sh")!).toString("utf8")).toBe("#!/bin/sh\n");
  });
});
