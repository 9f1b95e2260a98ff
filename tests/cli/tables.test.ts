// The tables that start both programs are written from the commands' own files.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { commandTable } from "../../scripts/generate-commands.js";
import { nexusGroups, nutshellGroups } from "../../src/commands/groups.js";
import { program as nexus } from "../../src/commands/nexus/program.js";
import { program as nutshell } from "../../src/commands/nutshell/program.js";

describe.each([
  { ...nutshell, groups: nutshellGroups },
  { ...nexus, groups: nexusGroups },
])("the table of $name", ({ name, entries, groups }) => {
  it("is what its commands say (else: npx tsx scripts/generate-commands.ts)", async () => {
    const committed = readFileSync(new URL(`../../src/commands/${name}/table.ts`, import.meta.url), "utf8");
    expect(committed).toBe(await commandTable(name));
  });

  it("loads the command it names", async () => {
    const names = await Promise.all(entries.map(async ({ load }) => (await load()).name));
    expect(names).toEqual(entries.map((entry) => entry.name));
  });

  it("has each name once, and every name that has a place", () => {
    const names = entries.map((entry) => entry.name);
    expect(names).toEqual([...new Set(names)]);
    expect(groups.flatMap(({ order }) => order).filter((word) => !names.includes(word))).toEqual([]);
  });
});
