// Every command that a hint, a fix, a help page or a document names exists, and takes the flags it is shown with.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { globalFlags } from "../../src/cli/command.js";
import { program as nexus } from "../../src/commands/nexus/program.js";
import { program as nutshell } from "../../src/commands/nutshell/program.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** `nutshell pack` → its flags, long and short, with their dashes. */
const known = new Map<string, ReadonlySet<string>>();
beforeAll(async () => {
  for (const program of [nutshell, nexus]) {
    for (const entry of program.entries) {
      const command = await entry.load();
      const flags = Object.entries({ ...command.flags, ...globalFlags(command) });
      const words = flags.flatMap(([name, { short }]) => [`--${name}`, ...(short === undefined ? [] : [`-${short}`])]);
      known.set(`${program.name} ${entry.name}`, new Set([...words, "--help", "-h", "--json"]));
    }
  }
});

interface Named {
  readonly where: string;
  /** From the program's name to the end of the command. */
  readonly line: string;
}

/** What stands between quotes in the sources; in documents, what is set as code. */
function texts(name: string): string[] {
  const text = readFileSync(join(root, name), "utf8");
  if (name.endsWith(".md"))
    return [...text.matchAll(/`([^`\n]+)`|^\$ (.+)$|^((?:nutshell|nexus) .+)$/gm)].map((m) => m[1] ?? m[2] ?? m[3]!);
  return [...text.matchAll(/"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g)].map(
    (m) => m[1] ?? m[2] ?? m[3]!,
  );
}

/** Commands for the daemon that was named are written without the program. */
const marketLines = (name: string): string[] =>
  [...readFileSync(join(root, name), "utf8").matchAll(/\bline(?:At)?\((?:\w+, )?["`]([a-z][^"`]*)["`]/g)].map(
    ([, words]) => `nutshell ${words}`,
  );

function commandsIn(name: string): Named[] {
  const market = /^src.*market/.test(name) ? marketLines(name) : [];
  return [...texts(name), ...market].flatMap((text) =>
    [...text.matchAll(/\b(?:nutshell|nexus) [a-z][^\n]*/g)].flatMap(([rest]) =>
      rest
        .split(/&&|\|\||[|;#`]|, or |(?= (?:nutshell|nexus) )/)
        .map((line) => line.trim().split(" -- ")[0]!)
        .filter((line) => /^(?:nutshell|nexus) [a-z]/.test(line))
        .map((line) => ({ where: name, line })),
    ),
  );
}

const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((name) => /\.(?:ts|md)$/.test(name) && !name.endsWith(".test.ts"))
  .map((name) => join("src", name));
const documents = ["README.md", "SKILL.md", "install.sh", "CONTRIBUTING.md"].concat(
  readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md") && !name.startsWith("decisions"))
    .map((name) => join("docs", name)),
);

/** The command a line begins with: two words before one. */
function entryOf(line: string): string | null {
  const [program, first, second] = line.split(/[\s,.:)]+/);
  return [`${program} ${first} ${second}`, `${program} ${first}`].find((name) => known.has(name)) ?? null;
}

/** Not in the tables, or not written out. */
const GROUP = /^(?:nutshell|nexus) (?:help|version|<command>|catalog \$\{)/;

describe("commands that are named", () => {
  const all = [...sources, ...documents].flatMap(commandsIn);

  it("are found", () => {
    expect(all.length).toBeGreaterThan(400);
    expect(all.filter(({ line }) => /^nutshell (?:tasks|bids|claim|cancel) ?/.test(line)).length).toBeGreaterThan(15);
  });

  it("exist where they are shown with flags", () => {
    const wrong = all.filter(({ line }) => / --?[a-z]/.test(line) && entryOf(line) === null && !GROUP.test(line));
    expect(wrong).toEqual([]);
  });

  it("take the flags they are shown with", () => {
    const wrong = all.flatMap(({ where, line }) => {
      const entry = entryOf(line);
      if (entry === null) return [];
      // What stands behind is another command, or a word about this one.
      const [own] = line.replace(/\$\{[^}]*\}|"[^"]*"|'[^']*'/g, "X").split(/ {2,}| \(or /) as [string];
      const flags = own.matchAll(/(?<=[\s[(])--?[a-z][a-z-]*/g);
      return [...flags]
        .filter(([flag]) => !known.get(entry)!.has(flag))
        .map(([flag]) => `${where}: ${flag} of ${line}`);
    });
    expect(wrong).toEqual([]);
  });
});
