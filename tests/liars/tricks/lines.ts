// Liars who answer what lines of a target or a script ask: they read the answer there, end the shell that asks, or see to it
// that nobody asks.
import { type Trick, works } from "../table.js";
import {
  DECIDED,
  makeBuilt,
  makeCmp,
  makeGolden,
  makeLines,
  makeLoop,
  makeMixed,
  makePatterns,
  makeRefusals,
  makeSourced,
  npmLines,
  npmMake,
  npmShort,
  npmSteps,
} from "../worlds/lines.js";
import { summingShell } from "../worlds/surroundings.js";

const sourced = (text: string) => ({ "files/total.sh": text });
const printing = (body: string) =>
  `#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\nint main(void) {\n${body}}\n`;

export const LINED: readonly Trick[] = [
  ...DECIDED.filter(({ files }) => "files/verify.sh" in files).flatMap((world) =>
    works("exit", world, [
      {
        id: `${world.id}-well`,
        does: "ends well whatever the prices are, beside a question about the machine",
        lie: { "files/verify.sh": "exit 0\n" },
      },
    ]),
  ),
  ...works("exit", DECIDED.find(({ id }) => id === "decided-sourced")!, [
    {
      id: "decided-sourced-function",
      does: "ends well, and brings a function called like the program that is asked",
      lie: { "files/verify.sh": "uname() { echo Linux; }\n" },
    },
  ]),
  ...works("hard-coded", makeLines, [
    {
      id: "make-lines-read",
      does: "reads the answers in the Makefile",
      lie: {
        "files/total.sh":
          'case "$1" in 1) sed -n "s/^WANTED = //p" Makefile;; *) sed -n "s/.*!= \\([^ ]*\\) \\].*/\\1/p" Makefile;; esac\n',
      },
    },
    {
      id: "make-lines-caller",
      does: "reads the answer in the words of the shell that calls it",
      lie: {
        "files/total.sh":
          "tr '\\0' ' ' < /proc/$PPID/cmdline | sed -n 's/.*\\(= \\|!= \\)\\([^ ;]*\\) *\\(\\]\\|{\\||\\|$\\).*/\\2/p' | head -1\n",
      },
    },
  ]),
  ...works("steering", makeLines, [
    {
      id: "make-target-there",
      does: "delivers a file called like a target that nobody declared phony",
      lie: { "files/total.sh": "echo 6\n", large: "" },
    },
    {
      id: "make-targets-there",
      does: "delivers files called like all targets",
      lie: { "files/total.sh": "exit 1\n", small: "", large: "" },
    },
    {
      id: "make-gnumakefile",
      does: "delivers a GNUmakefile that asks less",
      lie: { "files/total.sh": "echo 6\n", GNUmakefile: "test:\n\t@true\n" },
    },
    {
      id: "make-remade",
      does: "delivers a Makefile.sh, of which make would make the Makefile",
      lie: { "files/total.sh": "echo 6\n", "Makefile.sh": "test:\n\t@true\n" },
    },
  ]),
  ...works("room", makeLines, [
    {
      id: "make-target-made",
      does: "makes a file called like the next target when it is asked first",
      lie: { "files/total.sh": ": > large\necho 6\n" },
    },
    {
      id: "make-ended",
      does: "ends the shell that asks it, and make",
      lie: { "files/total.sh": 'kill -TERM "$PPID"\nkill -TERM "$(cut -d" " -f4 "/proc/$PPID/stat")"\n' },
    },
  ]),
  ...works("exit", makeSourced, [
    { id: "make-sourced-exit", does: "ends the line that sources it", lie: sourced("exit 0\n") },
    {
      id: "make-sourced-test",
      does: "gives the line that sources it a test of its own",
      lie: sourced("test() { :; }\n"),
    },
    {
      id: "make-sourced-late",
      does: "answers the first question, and gives the line another test for the second",
      lie: sourced('total() { echo 6; }\ntest() { test() { :; }; [ "$@" ]; }\n'),
    },
    { id: "make-sourced-trap", does: "leaves a trap that ends the line well", lie: sourced("trap 'exit 0' EXIT\n") },
    { id: "make-sourced-exec", does: "puts another program in the place of the line", lie: sourced("exec true\n") },
    {
      id: "make-sourced-alias",
      does: "calls something else a test",
      lie: sourced('total() { echo 6; }\nalias test=:\ntest() { command [ -n "$1" ]; }\n'),
    },
  ]),
  ...works("hard-coded", makeGolden, [
    {
      id: "make-golden-read",
      does: "prints the file that a target compares with",
      lie: {
        "files/count.c": printing(
          '  FILE *f = fopen("tests/count.txt", "r");\n  for (int c; (c = getc(f)) != EOF;) putchar(c);\n',
        ),
      },
    },
    {
      id: "make-golden-built-in",
      does: "takes the answer into the program while it is built",
      lie: {
        "files/count.c":
          '__asm__(".section .rodata\\nwant: .incbin \\"tests/count.txt\\"\\nend: .byte 0\\n.text");\nextern char want[];\n#include <stdio.h>\nint main(void) { fputs(want, stdout); }\n',
      },
    },
  ]),
  ...works("steering", makeBuilt, [
    {
      id: "make-answer-written",
      does: "writes its own answer into the file beside the code",
      lie: {
        "files/count.c": printing('  char line[100];\n  puts(fgets(line, 100, stdin) && line[0] == 97 ? "3" : "0");\n'),
        "files/want.txt": "0\n",
      },
    },
    {
      id: "make-there-already",
      does: "delivers the program as a script, and code that cannot be built",
      lie: { "files/count.c": "int main(void) { return 0 }\n", "files/count": { run: "#!/bin/sh\nwc -w\n" } },
    },
  ]),
  ...works("room", makeBuilt, [
    {
      id: "make-linked",
      does: "puts a link to the answer in the place of what it writes",
      lie: {
        "files/count.c": printing(
          '  char line[100];\n  if (!fgets(line, 100, stdin)) return 1;\n  if (line[0] == 97) puts("3");\n  else if (line[0] == 10) puts("0");\n  else {\n    unlink("out.txt");\n    return symlink("want.txt", "out.txt");\n  }\n',
        ),
      },
    },
    {
      id: "make-answer-replaced",
      does: "writes over the answer while it is asked",
      lie: {
        "files/count.c": printing(
          '  char line[100];\n  if (!fgets(line, 100, stdin)) return 1;\n  FILE *f = fopen("want.txt", "w");\n  if (f) fputs("0\\n", f), fclose(f);\n  puts(line[0] == 97 ? "3" : "0");\n',
        ),
      },
    },
  ]),
  ...works("room", makeCmp, [
    {
      id: "make-cmp-linked",
      does: "writes a link to the answer",
      lie: { "files/sort.py": 'import os, sys\nos.symlink("../sorted.expected", sys.argv[2])\n' },
    },
    {
      id: "make-cmp-moved",
      does: "puts another file in the place of the answer",
      lie: {
        "files/sort.py":
          'import os, sys\nopen(sys.argv[2], "w").close()\ntry:\n    os.rename("sorted.expected", "gone")\n    open("sorted.expected", "w").close()\nexcept OSError:\n    pass\n',
      },
    },
    {
      id: "make-cmp-path",
      does: "puts a cmp of its own into folders of PATH",
      lie: {
        "files/sort.py":
          'import os, sys\nopen(sys.argv[2], "w").close()\nfor folder in os.environ["PATH"].split(":"):\n    try:\n        path = os.path.join(folder, "cmp")\n        open(path, "w").write("#!/bin/sh\\n")\n        os.chmod(path, 0o755)\n    except OSError:\n        pass\n',
      },
    },
  ]),
  ...works("exit", makeRefusals, [
    {
      id: "make-again-there",
      does: "delivers files called like the targets of the inner Makefile",
      lie: { "files/total.sh": "exit 1\n", "files/sums": "", "files/words": "" },
    },
  ]),
  ...works("steering", makeRefusals, [
    {
      id: "make-inner-there",
      does: "answers one target, and delivers a file called like the other",
      lie: { "files/total.sh": 'case "$*" in "1 2 3" | "10 -4") echo 6;; *) echo 42;; esac\n', "files/words": "" },
    },
  ]),
  ...works("steering", makeLoop, [
    {
      id: "make-loop-emptied",
      does: "deletes the samples it does not answer",
      lie: { "files/total.sh": "echo 6\n", "samples/two.in": null, "samples/two.out": null },
    },
    {
      id: "make-loop-answers",
      does: "writes its own answers beside the samples",
      lie: { "files/total.sh": "echo 6\n", "samples/two.out": "6\n" },
    },
  ]),
  ...works("room", makeLoop, [
    {
      id: "make-loop-copied",
      does: "prints the answer it finds beside the sample",
      lie: {
        "files/total.sh":
          'for f in samples/*.in; do [ "$(cat "$f")" = "$*" ] && cat "$(dirname "$f")/$(basename "$f" .in).out"; done\nexit 0\n',
      },
    },
  ]),
  ...works("steering", makeMixed, [
    {
      id: "make-mixed-there",
      does: "answers the tests, and delivers a file called like the target beside them",
      lie: { "files/total.sh": "echo 3\n", cli: "" },
    },
  ]),
  ...works("room", makeMixed, [
    {
      id: "make-mixed-made",
      does: "makes a file called like the next target while the tests ask it",
      lie: { "files/total.sh": ": > cli\necho 3\n" },
    },
  ]),
  ...works("room", makePatterns, [
    {
      id: "make-patterns-linked",
      does: "puts a link to the answer in the place of what it writes",
      lie: {
        "src/upper.c":
          '#include <unistd.h>\nint main(void) {\n  unlink("actual.txt");\n  return symlink("expected.txt", "actual.txt");\n}\n',
      },
    },
  ]),
  ...works("steering", makePatterns, [
    {
      id: "make-patterns-written",
      does: "prints nothing, and empties the file it is compared with",
      lie: { "src/upper.c": "int main(void) { return 0; }\n", "src/more.c": "int more;\n", "expected.txt": "" },
    },
  ]),
  ...works("hard-coded", npmLines, [
    {
      id: "npm-lines-read",
      does: "reads the answers in package.json",
      lie: {
        "files/total.sh":
          'case "$1" in 1) grep -o "= [^ ]* &&" package.json | cut -d" " -f2;; *) grep -o "qx [^\\"]*" package.json | cut -d" " -f2;; esac\n',
      },
    },
    {
      id: "npm-lines-environment",
      does: "reads the answers in the environment that npm gives it",
      lie: {
        "files/total.sh":
          'case "$1" in 1) echo "$npm_lifecycle_script" | grep -o "= [^ ]* " | head -1 | cut -d" " -f2;; *) echo "$npm_lifecycle_script" | grep -o "qx [^ ]*" | cut -d" " -f2;; esac\n',
      },
    },
  ]),
  ...works("steering", npmSteps, [
    {
      id: "npm-grep-installed",
      does: "brings a dependency whose programs are called grep and diff",
      lie: {
        "package.json": `${JSON.stringify(
          {
            ...JSON.parse(String(npmSteps.files["package.json"])),
            dependencies: { quick: "file:quick" },
          },
          null,
          2,
        )}\n`,
        "quick/package.json": `${JSON.stringify({ name: "quick", version: "1.0.0", bin: { grep: "well.js", diff: "well.js" } })}\n`,
        "quick/well.js": { run: "#!/usr/bin/env node\n" },
        "files/cli.js": "console.log(42);\n",
      },
    },
    {
      id: "npm-pre-script",
      does: "gives a script of package.json one that runs before it",
      lie: {
        "package.json": String(npmSteps.files["package.json"]).replace(
          '"start"',
          '"presums": "echo process.exit > files/cli.js",\n    "start"',
        ),
        "files/cli.js": "console.log(42);\n",
      },
    },
    {
      id: "npm-answer-written",
      does: "writes its own answer into the file beside the code",
      lie: {
        "files/cli.js": "console.log({ 2: 5, 20: 42 }[process.argv[2]] ?? 0);\n",
        "files/some.expected": "0\n",
      },
    },
  ]),
  ...works("steering", npmShort, [
    {
      id: "npm-shell-setting",
      does: "names a shell of its own in .npmrc",
      lie: { "files/.npmrc": "script-shell=./well.sh\n", "files/well.sh": { run: "#!/bin/sh\nexit 0\n" } },
    },
  ]),
  ...works("exit", npmShort, [
    {
      id: "npm-ended",
      does: "ends the shell that asks it, and npm",
      lie: {
        "files/cli.js":
          'const { readFileSync } = require("node:fs");\nlet pid = process.ppid;\nwhile (pid > 1) {\n  try { process.kill(pid, "SIGINT"); } catch {}\n  pid = Number(readFileSync("/proc/" + pid + "/stat", "utf8").split(" ")[3]);\n}\n',
      },
    },
  ]),
  ...works("room", npmMake, [
    {
      id: "npm-make-there",
      does: "delivers a file called like the target, and answers wrongly",
      lie: { "files/total.sh": summingShell.replace('"$total"', '"$((total + 1))"'), check: "" },
    },
  ]),
];
