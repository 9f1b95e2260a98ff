import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { TreeView } from "../../runners/runner.js";
import { ledLines } from "./led-lines.js";
import { lineControls } from "./line-controls.js";

type Files = Readonly<Record<string, string>>;

/** `work.…` is the work, everything else the base's own. */
function viewOf(files: Files): TreeView {
  const list = (folder: string) => {
    const head = folder === "" ? "" : `${folder}/`;
    const below = Object.keys(files).filter((path) => path.startsWith(head));
    return [...new Set(below.map((path) => path.slice(head.length).replace(/\/.*/, "/")))];
  };
  return {
    exists: (path) => path in files || list(path).length > 0,
    read: (path) => files[path] ?? null,
    list,
    isGuarded: (path) => path in files && !/work\./.test(path),
  };
}

const read = (files: Files, command = "make test") => ledLines(command, viewOf(files));
const target = (...lines: readonly string[]) => ({ Makefile: `test:\n${lines.map((line) => `\t${line}\n`).join("")}` });

/** How each control ends, on work that is right. */
function tried(files: Files, command: string): { name: string; fails: boolean; says: boolean }[] {
  const view = viewOf(files);
  return lineControls(ledLines(command, view)!, view).map(({ name, files: altered, check }) => {
    const folder = mkdtempSync(join(tmpdir(), "lines-"));
    const put = (path: string, bytes: string | Uint8Array) => {
      mkdirSync(join(folder, dirname(path)), { recursive: true });
      writeFileSync(join(folder, path), bytes);
    };
    try {
      for (const [path, text] of Object.entries(files)) put(path, text);
      for (const [path, bytes] of altered) put(path, bytes);
      const { status, stdout, stderr } = spawnSync("sh", ["-c", command], { cwd: folder, encoding: "utf8" });
      return { name, fails: status !== 0, says: `${stdout}${stderr}`.includes(String(check?.marker)) };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

describe("lines that a target runs", () => {
  const ANSWERS = { "work.sh": 'echo "$#"\n', "want.txt": "2\n", "in/a.in": "x\n", "in/a.out": "1\n" };
  const LINES: readonly string[] = [
    'test "$$(sh work.sh 1 2)" = 2',
    '@[ 2 -eq "$$(sh work.sh 1 2)" ] && echo well',
    "sh work.sh 1 2 | grep -qx '2'",
    "sh work.sh 1 2 | diff - want.txt",
    "@sh work.sh 1 2 > out.txt; cmp -s out.txt want.txt",
    'out=$$(sh work.sh 1 2); \\\n\tif [ "$$out" != 2 ]; then echo "got $$out"; exit 1; fi',
    '[ "$$(sh work.sh)" = 0 ] || { echo no >&2; exit 1; }',
    '[ "$$(sh work.sh)" = 0 ] && echo yes || (echo no; exit 1)',
    "if sh work.sh 1 | grep -q 1; then echo yes; else echo no; exit 1; fi",
    'set -e; test "$$(sh work.sh)" != 7; test "$$(sh work.sh)" = 0; echo well',
    'test "$$(sh work.sh; sh work.sh 1)" = "$$(printf \'0\\n1\')"',
    'test "$$(sh work.sh 1 2)" = "$$(cat want.txt)"',
    'test "$$(cd in && sh ../work.sh 1 2)" -gt 1',
    "for f in in/*.in; do sh work.sh $$(cat $$f) | diff - $${f%.in}.out || exit 1; done",
    "test -f work.sh && ! test -d work.sh",
    "mkdir -p out; sh work.sh 1 > out/a.out; cmp out/a.out in/a.out",
  ];

  it.each(LINES)("alters each alone, and each says so itself: %s", (line) => {
    const files = { ...ANSWERS, ...target(line) };
    expect(read(files)!.others).toEqual([]);
    const all = tried(files, "make test");
    expect(all.length).toBeGreaterThan(0);
    for (const each of all) expect(each).toEqual({ name: each.name, fails: true, says: true });
  });

  it.each([
    ["sh work.sh"],
    ["sh work.sh || exit 1"],
    ["if sh work.sh; then echo yes; else exit 1; fi"],
    ["out=$$(sh work.sh) && true"],
    ['out=$$(sh work.sh) && test -z "$$out"'],
    ['out=$$(sh work.sh) && test "$$out" = ""'],
    ["sh work.sh > log.txt && test -f log.txt"],
    ["sh work.sh > log.txt && uname > log.txt && grep -q Linux log.txt"],
    ["uname > log.txt && grep -q Linux log.txt && sh work.sh > log.txt"],
    ["sh work.sh; test $$? -eq 0"],
    ['test "$$(sh work.sh && echo well)" = well'],
    ["(sh work.sh)"],
    ["sh work.sh & wait"],
    [". work.sh"],
    ["eval sh work.sh"],
    ["cc -c work.c"],
    ['test "$$(uname)" = Linux; sh work.sh'],
    ['test "$$(uname)" = Linux || true'],
    ["grep -q 2 want.txt || echo no"],
    ['PATH=.:$$PATH test "$$(uname)" = Linux'],
    ["sh work.sh | cat"],
    ["test 1 = 1 -o 1 = 2"],
    ["! sh work.sh | grep -q wrong"],
    ["diff want.txt in/a.out"],
    ["sh work.sh < want.txt | diff - want.txt"],
    ["set -e; ! test 1 = 2; test 1 = 1"],
    ["{ test 1 = 1; }"],
    ["if test 1 = 1; then sh work.sh; else exit 1; fi"],
    ["$(shell sh work.sh)"],
    ["+test 1 = 1"],
    ["test 1 = 1 # and so on"],
  ])("names what stands in the way: %s", (line) => {
    const led = read({ ...ANSWERS, "in/a.out": "1\n", ...target('@test "$$(uname)" = Linux', line) });
    expect(led!.others.length).toBeGreaterThan(0);
  });

  it.each([
    ["SHELL = ./work.sh\n"],
    [".ONESHELL:\n"],
    [".IGNORE:\n"],
    ["MAKEFLAGS += -i\n"],
    ["include more.mk\n"],
    ["-include more.mk\n"],
    ["ifdef X\nendif\n"],
    ["define ask\nendef\n"],
    ["PATH := bin:$(PATH)\n"],
    [".RECIPEPREFIX = >\n"],
    ["test: X = 1\n"],
    ["vpath %.c src\n"],
    ["%.ok: %.sh\n\tsh $<\n"],
    ["test:: other\n"],
    ["other: ; sh work.sh\n"],
    ["X != sh work.sh\n"],
    ["$(eval X = 1)\n"],
    [".c.o:\n\tsh work.sh\n"],
  ])("reads no Makefile with %j", (more) => {
    expect(read({ Makefile: `${more}${target("test 1 = 1").Makefile}` })!).toMatchObject({ expected: [] });
  });

  it("makes what is the goal where nothing is asked for", () => {
    const all = "first:\n\ttest 1 = 1\nother:\n\ttest 2 = 2\n";
    expect(read({ Makefile: all }, "make")!.texts).toEqual(["test 1 = 1"]);
    expect(read({ Makefile: `.DEFAULT_GOAL := other\n${all}` }, "make")!.texts).toEqual(["test 2 = 2"]);
  });

  it("does not go on for ever", () => {
    const names = Array.from({ length: 9 }, (_, at) => `A${at} = ${`$(A${at + 1})`.repeat(50)}\n`).join("");
    expect(read({ Makefile: `${names}A9 = x\ntest:\n\ttest $(A0) = 1\n` })!.expected).toEqual([]);
    const calls = Object.fromEntries(
      Array.from({ length: 4 }, (_, at) => [
        `s${at}`,
        Array(50)
          .fill(`npm run s${at + 1}`)
          .join(" && "),
      ]),
    );
    expect(
      read({ "package.json": JSON.stringify({ scripts: { ...calls, s4: "true" } }) }, "npm run s0")!.others,
    ).not.toEqual([]);
    expect(read(target(`test "${"$$(".repeat(1900)}" = 1`))!.expected).toEqual([]);
  });

  it("reads no Makefile that is the work", () => {
    expect(read({ "work.mk": target("test 1 = 1").Makefile }, "make -f work.mk test")!.expected).toEqual([]);
  });

  it("goes through what a target needs, names, endings and rules of make's own", () => {
    const Makefile = [
      "SRC = $(wildcard *.c)",
      "OBJ := $(SRC:.c=.o)",
      ".PHONY: all test",
      "all: prog",
      "prog: $(OBJ)",
      "\t$(CC) -o $@ $^",
      "%.o: %.c",
      "\t$(CC) $(CFLAGS) -c -o $@ $<",
      "test: all tool",
      "\t./tool 1 | ./prog | grep -qx 1",
      "",
    ].join("\n");
    const files = { Makefile, "work.c": "", "main.c": "", "tool.c": "" };
    expect(read(files)).toMatchObject({ expected: [{ line: { text: "./tool 1 | ./prog | grep -qx 1" } }], others: [] });
    expect(read({ ...files, Makefile: Makefile.replace(" | ./prog", "") })!.others).toEqual([
      "cc  -c -o work.o work.c",
      "cc  -c -o main.o main.c",
      "cc  -c -o tool.o tool.c",
      "cc -o prog work.o main.o tool.o",
    ]);
    expect(read({ ...files, Makefile: Makefile.replace("all tool", "all missing") })!.expected).toEqual([]);
  });
});

describe("lines that a script runs", () => {
  const scripts = (all: Readonly<Record<string, string>>, more: Files = {}): Files => ({
    "package.json": JSON.stringify({ scripts: all }),
    ...more,
  });
  const ASKS = 'test "$(uname)" = Linux';

  it("takes what runs before and behind it, and what it calls", () => {
    const files = scripts(
      { pretest: "npm run a", a: ASKS, test: "make -C in", posttest: "npm run -s a" },
      { "in/Makefile": "a:\n\ttest 1 = 1\n" },
    );
    const led = read(files, "npm test")!;
    expect(led.expected.map(({ line }) => line.where)).toEqual([
      'script "a" of package.json',
      "line 2 of in/Makefile",
      'script "a" of package.json',
    ]);
    expect(led.others).toEqual([]);
  });

  it.each([
    [{ pretest: "sh work.sh", test: ASKS }, "npm test"],
    [{ test: ASKS, posttest: "sh work.sh" }, "npm test"],
    [{ test: `${ASKS} && npx work` }, "npm test"],
    [{ test: ASKS }, "npm test -- --more"],
    [{ test: ASKS }, "npm test --workspaces"],
    [{ test: ASKS }, "npm ci && npm test"],
    [{ test: "npm-run-all a", a: ASKS }, "npm test"],
    [{ test: "npm run test" }, "npm test"],
    [{ a: ASKS }, "npm test"],
  ])("names what stands in the way in %j by %s", (all, command) => {
    expect(read(scripts(all), command)!.others.length).toBeGreaterThan(0);
  });

  it("reads nothing where settings name another shell", () => {
    const files = scripts({ test: ASKS }, { ".npmrc": "script-shell=./work.sh\n" });
    expect(read(files, "npm test")!.expected).toEqual([]);
  });

  it("follows what a command asks beside its calls, and nothing without one", () => {
    const files = { ...scripts({ test: ASKS, build: "cc -o sum sum.c" }), ...target("test 1 = 1") };
    for (const command of ["sh check.sh", "test 1 = 1"]) expect(read(files, command)).toBe(null);
    expect(read(files, "npm test && test 1 = 1")).toMatchObject({ expected: { length: 2 }, others: [] });
    expect(read(files, 'npm run build && [ "$(./sum 2 3)" = 5 ]')).toMatchObject({
      expected: { length: 1 },
      others: [],
    });
    for (const command of ["make test | cat", "make test || true", "make test; true", "sh work.sh && make test"]) {
      const led = read(files, command);
      expect(led === null || led.others.length > 0, command).toBe(true);
    }
  });
});
