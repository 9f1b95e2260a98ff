// src/commands/*/table.ts: every command's name, summary and place, read from the commands' own files, so that adding one
// touches one file. A test compares; run this when it is red:
//   npx tsx scripts/generate-commands.ts
import { readdirSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Command } from "../src/cli/command.js";
import { type Group, nexusGroups, nutshellGroups } from "../src/commands/groups.js";

const folder = fileURLToPath(new URL("../src/commands/", import.meta.url));

interface Row {
  readonly name: string;
  readonly summary: string;
  readonly group: string;
  readonly load: string;
  readonly hidden: boolean;
}

/** The text of a program's table. */
export async function commandTable(program: "nutshell" | "nexus"): Promise<string> {
  const groups = program === "nutshell" ? nutshellGroups : nexusGroups;
  const rows: Row[] = [];
  for (const group of groups) rows.push(...(await rowsOf(group, program)));
  return [
    "// Written by scripts/generate-commands.ts from the commands' own files. Loading one command never parses another.",
    'import type { CommandEntry } from "../../cli/command.js";',
    "",
    "export const entries: readonly CommandEntry[] = [",
    ...rows.flatMap(({ name, summary, group, load, hidden }) => [
      "  {",
      `    name: ${JSON.stringify(name)},`,
      `    group: ${JSON.stringify(group)},`,
      `    summary: ${JSON.stringify(summary)},`,
      ...(hidden ? ["    hidden: true,"] : []),
      `    load: ${load},`,
      "  },",
    ]),
    "];",
    "",
  ].join("\n");
}

async function rowsOf(group: Group, program: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (const file of readdirSync(folder + group.folder).sort()) {
    if (!/\.ts$/.test(file) || /\.test\.ts$/.test(file)) continue;
    const path = `${folder}${group.folder}/${file}`;
    const face = ((await import(pathToFileURL(path).href)) as { default?: Command | readonly Command[] }).default;
    const from = relative(folder + program, path)
      .replace(/^(?!\.)/, "./")
      .replace(/\.ts$/, ".js");
    for (const [index, { name, summary, hidden = false }] of [face ?? []].flat().entries()) {
      const which = Array.isArray(face) ? `.default[${index}]!` : ".default";
      rows.push({ name, summary, hidden, group: group.title, load: `async () => (await import("${from}"))${which}` });
    }
  }
  const place = ({ name }: Row) => (group.order.includes(name) ? group.order.indexOf(name) : group.order.length);
  return rows.sort((a, b) => place(a) - place(b));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const program of ["nutshell", "nexus"] as const)
    writeFileSync(`${folder}${program}/table.ts`, await commandTable(program));
}
