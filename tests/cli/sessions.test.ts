// tests/cli/*.txt read like a terminal: files first (`-- path --`), then commands with what they print.
//   $ nutshell check task      a command; what follows is its standard output, line by line
//   2> text                    a line of its standard error
//   ? 1                        its exit status, when it is not 0
//   exists path / ! exists path
// In expected lines `…` stands for any text; a line that is only `…` for any number of lines.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { runNutshell } from "./run-nutshell.js";

const here = fileURLToPath(new URL(".", import.meta.url));

interface Step {
  readonly line: string;
  readonly out: string[];
  readonly err: string[];
  readonly after: string[];
  code: number;
}

function parse(text: string): { files: Map<string, string>; steps: Step[] } {
  const files = new Map<string, string>();
  const steps: Step[] = [];
  let file: string | null = null;
  for (const line of text.split("\n")) {
    const name = /^-- (.+) --$/.exec(line)?.[1];
    const step = steps.at(-1);
    if (name !== undefined) {
      file = name;
      files.set(name, "");
    } else if (line.startsWith("$ nutshell ")) {
      file = null;
      steps.push({ line, out: [], err: [], after: [], code: 0 });
    } else if (file !== null) files.set(file, `${files.get(file)}${line}\n`);
    else if (step === undefined || line.startsWith("# ")) continue;
    else if (line.startsWith("2> ")) step.err.push(line.slice(3));
    else if (/^\? \d+$/.test(line)) step.code = Number(line.slice(2));
    else if (/^(! )?exists /.test(line)) step.after.push(line);
    else step.out.push(line);
  }
  return { files, steps };
}

/** Words as a shell would split them; only single and double quotes are needed here. */
function words(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, plain]) => single ?? double ?? plain!,
  );
}

function pattern(lines: readonly string[]): RegExp {
  const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("…", "[^\\n]*");
  return new RegExp(`^${lines.map((line) => (line === "…" ? "(?:[^\\n]*\\n)*" : `${escaped(line)}\\n`)).join("")}$`);
}

const trimmed = (lines: readonly string[]) =>
  lines
    .join("\n")
    .replace(/^\n+|\n+$/g, "")
    .split("\n")
    .filter((line, _, all) => all.length > 1 || line !== "");

describe("terminal sessions", () => {
  for (const name of readdirSync(here).filter((file) => file.endsWith(".txt"))) {
    it(name, async () => {
      const work = mkdtempSync(join(tmpdir(), "nut-session-"));
      try {
        const { files, steps } = parse(readFileSync(join(here, name), "utf8"));
        for (const [path, text] of files) {
          mkdirSync(dirname(join(work, path)), { recursive: true });
          writeFileSync(join(work, path), text);
        }
        expect(steps.length).toBeGreaterThan(0);
        for (const step of steps) {
          const result = await runNutshell(words(step.line).slice(2), { cwd: work });
          const clean = (text: string) => text.replaceAll(work, "$WORK");
          expect
            .soft(clean(result.out).replace(/\n+$/, "\n"), `${step.line} (stdout)`)
            .toMatch(pattern(trimmed(step.out)));
          expect.soft(clean(result.err), `${step.line} (stderr)`).toMatch(pattern(step.err));
          expect.soft(result.code, `${step.line} (exit status)`).toBe(step.code);
          for (const line of step.after) {
            const [not, path] = line.startsWith("! ") ? [true, line.slice(9)] : [false, line.slice(7)];
            expect.soft(existsSync(join(work, path)), `${step.line}: ${line}`).toBe(!not);
          }
        }
      } finally {
        rmSync(work, { recursive: true, force: true });
      }
    });
  }
});
