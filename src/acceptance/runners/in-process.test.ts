import { describe, expect, it } from "vitest";
import { shellShares } from "./in-process.js";
import type { TreeView } from "./runner.js";

const FILES: Readonly<Record<string, string>> = {
  "src/cli.js": "console.log(1);\n",
  "tests/alone.sh": '[ "$(src/cli.js)" = 1 ]\n',
  "tests/sources.sh": ". src/lib.sh\n",
  "src/lib.sh": "total() { :; }\n",
  "tests/check.py": "import calc\n",
  "calc.py": "",
  "t/total.t": "use Test::More;\n",
};
const view: TreeView = {
  exists: (path) => path in FILES,
  read: (path) => FILES[path] ?? null,
  list: (folder) => (folder === "t" || folder === "tests" ? ["x"] : []),
};

describe("a shell shares its process, or a program it starts does", () => {
  it.each([
    "prove -l t/",
    "bun test",
    "deno test src",
    "bats test",
    "timeout 60 npm test",
    "env -i A=1 nice -n 5 python3 -m unittest",
    "A=1 mocha",
    "sh tests/sources.sh",
    "sh -c '. src/lib.sh; total'",
    "tests/check.py",
    "unheard-of-runner tests/alone.sh",
    "unheard-of-runner tests/",
  ])("%s", (text) => expect(shellShares(text, view, "")).toBe(true));

  it.each([
    "node src/cli.js 1 2",
    "eslint src",
    "diff out.txt tests/want.txt",
    "sh tests/alone.sh",
    "tests/alone.sh",
    "unheard-of-linter src",
    'make() { [ "$1" = 1 ]; }\nmake 1\n',
    "timeout 5 src/cli.js",
  ])("and not with %s", (text) => expect(shellShares(text, view, "")).toBe(false));
});
