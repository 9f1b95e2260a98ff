// One voice over all commands: pages that fit a terminal, at least one example each, one letter for one flag.
import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import type { Program } from "../../src/cli/command.js";
import { commandHelp, programHelp } from "../../src/cli/help.js";
import { program as nexus } from "../../src/cli/nexus/program.js";
import { program as nutshell } from "../../src/cli/nutshell/program.js";
import { render } from "../../src/cli/text.js";

const plain = (lines: readonly string[]) => lines.map((line) => stripVTControlCharacters(render(line, false)));
const tooLong = (lines: readonly string[]) => plain(lines).filter((line) => [...line].length > 80);

describe.each([nutshell, nexus] as Program[])("$name --help", (program) => {
  it("fits 80 columns", () => {
    expect(tooLong(programHelp(program))).toEqual([]);
  });

  it.each(program.entries)("$name: fits, and shows how it is used", async (entry) => {
    const { default: command } = await entry.load();
    expect(tooLong(commandHelp(program, entry, command))).toEqual([]);
    expect(entry.summary).toMatch(/^[^A-Z].*[^.]$|^JSON/);
    expect(command.examples?.length ?? 0).toBeGreaterThan(0);
    for (const [line] of command.examples ?? []) expect(line).toMatch(/\b(?:nutshell|nexus)\b/);
  });
});

/** The same word for two things: a diff of texts, and a value taken as text. */
const TWO_MEANINGS = new Set(["text"]);

it("gives a flag the same letter in every command", async () => {
  const flags = new Map<string, Set<string>>();
  for (const { entries } of [nutshell, nexus]) {
    for (const entry of entries) {
      const { default: command } = await entry.load();
      for (const [name, { short }] of Object.entries(command.flags ?? {})) {
        flags.set(name, (flags.get(name) ?? new Set()).add(short ?? "none"));
      }
    }
  }
  const several = [...flags].filter(([name, letters]) => letters.size > 1 && !TWO_MEANINGS.has(name));
  expect(several.map(([name, letters]) => [name, ...letters])).toEqual([]);
});
