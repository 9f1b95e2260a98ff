import { describe, expect, it } from "vitest";
import type { TreeView } from "../runners/runner.js";
import { ledLines } from "./led-lines.js";

const viewOf = (files: Readonly<Record<string, string>>): TreeView => ({
  exists: (path) => path in files,
  read: (path) => files[path] ?? null,
  list: () => [],
});

const MAKEFILE = `OUT = 6
.PHONY: test
all: build # first

build:
\tcc -o $@ $<

test: build small
\t@test "$$(sh sum.sh 1 2 3)" = $(OUT)
\t-rm -f left
# a remark ends no rule

\t+@echo done; \\
\techo $$HOME
other:
\ttest 1 = 2
small::
\tgrep -q 5 out
`;

describe("lines of make", () => {
  const view = viewOf({ Makefile: MAKEFILE, "sub/GNUmakefile": "a:\n\techo $$x\n" });

  it("are those of the target and of what it needs, as a shell reads them, without what may fail", () => {
    const { path, text } = ledLines("make -s -j 2 test V=1", view)!;
    expect(path).toBe("Makefile");
    const marked = text.replace(/\uE000\d+[A-Z]*\uE001/g, "<>");
    expect(marked).toBe('cc -o <> <>\ntest "$(sh sum.sh 1 2 3)" = <>\necho done; \\\necho $HOME\ngrep -q 5 out');
  });

  it("are written back where they stood, and everything else stays", () => {
    const { text, write } = ledLines("make test", view)!;
    expect(write(text)).toBe(MAKEFILE);
    expect(write(text.replace("-q 5", "-q other"))).toBe(MAKEFILE.replace("-q 5", "-q other"));
    expect(write(`${text}\nmore`)).toBeNull();
  });

  it("are the first target's by default, in the folder that is named", () => {
    expect(ledLines("gmake", view)!.text.startsWith("cc -o ")).toBe(true);
    expect(ledLines("make -C sub", view)).toMatchObject({ path: "sub/GNUmakefile", text: "echo $x" });
    expect(ledLines("cd sub && make", view)).toMatchObject({ path: "sub/GNUmakefile", text: "echo $x" });
    expect(ledLines("make -f sub/GNUmakefile a", view)).toMatchObject({ path: "sub/GNUmakefile" });
  });

  it.each<[string, string, Record<string, string>]>([
    ["more than one command", "make test && true", { Makefile: MAKEFILE }],
    ["another command before it", "true && make test", { Makefile: MAKEFILE }],
    ["a folder that nobody has to be in", "cd sub; make test", { Makefile: MAKEFILE }],
    ["a command that is turned round", "! make test", { Makefile: MAKEFILE }],
    ["words that a shell computes", 'make "$TARGET"', { Makefile: MAKEFILE }],
    ["a target that is not there", "make nothing", { Makefile: MAKEFILE }],
    ["no Makefile", "make", {}],
    ["a folder outside", "make -C ../other", { "../other/Makefile": MAKEFILE }],
    ["another sign before lines", "make", { Makefile: ".RECIPEPREFIX = >\na:\n\ttest 1 = 1\n" }],
    ["text that make computes", "make", { Makefile: "a:\n\ttest $(shell date) = 1\n" }],
  ])("are not told of %s", (_, command, files) => {
    expect(ledLines(command, viewOf(files))).toBeNull();
  });
});

describe("lines of npm's scripts", () => {
  const settings = { name: "a", scripts: { test: 'test "$(sh a.sh)" = 5', "unit:a": "npm run -s test", up: "make x" } };
  const view = viewOf({ "package.json": JSON.stringify(settings), Makefile: "x:\n\ttrue\n" });

  it.each([
    "npm test",
    "npm t --silent",
    "npm run test",
    "yarn test",
    "pnpm -s run test",
    "npm run unit:a",
    "yarn unit:a",
  ])("are what %s runs", (command) => {
    const { path, text, write } = ledLines(command, view)!;
    expect([path, text]).toEqual(["package.json", settings.scripts.test]);
    expect(JSON.parse(write('echo "$x"')!)).toEqual({
      name: "a",
      scripts: { ...settings.scripts, test: 'echo "$x"' },
    });
  });

  it.each([
    "cd web && npm test",
    "npm --prefix web test",
    "npm test --prefix=web",
    "yarn --cwd web test",
    "pnpm -C web test",
  ])("are those of the folder that %s names", (command) => {
    const files = { "web/package.json": '{"scripts":{"test":"make x"}}', "web/Makefile": "x:\n\ttrue\n" };
    expect(ledLines(command, viewOf(files))).toMatchObject({ path: "web/Makefile", text: "true" });
  });

  it("may lead to make", () => {
    expect(ledLines("npm run up", view)).toMatchObject({ path: "Makefile", text: "true" });
  });

  it.each(["npm install", "npm run nothing", "npm test -- --grep x", "bun test", "npm ci", "npx test"])(
    "are not told of %s",
    (command) => {
      expect(ledLines(command, view)).toBeNull();
    },
  );

  it.each(["", "[]", "{", '"a"', '{"scripts":[]}', '{"scripts":{"test":5}}'])(
    "are not told of settings like %j",
    (text) => {
      expect(ledLines("npm test", viewOf({ "package.json": text }))).toBeNull();
    },
  );

  it("end, where scripts lead to themselves", () => {
    const circle = viewOf({ "package.json": '{"scripts":{"test":"npm run test"}}' });
    expect(ledLines("npm test", circle)).toMatchObject({ text: "npm run test" });
  });
});
