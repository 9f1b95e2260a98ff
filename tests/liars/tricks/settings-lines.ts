// Liars who answer what the project's own settings ask: they read the answer there, or end the shell that asks.
import { type Trick, works } from "../table.js";
import { makeGolden, makeLines, makeSourced, npmLines } from "../worlds/settings-lines.js";

export const SETTLED: readonly Trick[] = [
  ...works("hard-coded", makeLines, [
    {
      id: "make-lines-read",
      does: "reads the answers in the Makefile",
      lie: {
        "files/total.sh":
          'case "$1" in 1) sed -n "s/^WANTED = //p" Makefile;; *) sed -n "s/.*!= \\([^ ]*\\) \\].*/\\1/p" Makefile;; esac\n',
      },
    },
  ]),
  ...works("exit", makeSourced, [
    { id: "make-sourced-exit", does: "ends the line that sources it", lie: { "files/total.sh": "exit 0\n" } },
    {
      id: "make-sourced-test",
      does: "gives the line that sources it a test of its own",
      lie: { "files/total.sh": "test() { :; }\n" },
    },
  ]),
  ...works("hard-coded", makeGolden, [
    {
      id: "make-golden-read",
      does: "prints the file that a target compares with",
      lie: {
        "files/count.c":
          '#include <stdio.h>\nint main(void) {\n  FILE *f = fopen("tests/count.txt", "r");\n  for (int c; (c = getc(f)) != EOF;) putchar(c);\n}\n',
      },
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
  ]),
];
