// One voice over all commands: pages that fit a terminal, at least one example each, one letter for one flag.
import { readFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { type Flag, globalFlags, type Program } from "../../src/cli/command.js";
import { commandHelp, EXIT_STATUS, programHelp } from "../../src/cli/help.js";
import { render } from "../../src/cli/text.js";
import { program as nexus } from "../../src/commands/nexus/program.js";
import { program as nutshell } from "../../src/commands/nutshell/program.js";
import { HOST_NAMES } from "../../src/hosts/index.js";
import { PlanFile } from "../../src/schema/run.js";

const plain = (lines: readonly string[]) => lines.map((line) => stripVTControlCharacters(render(line, false)));
const tooLong = (lines: readonly string[]) => plain(lines).filter((line) => [...line].length > 80);

describe.each([nutshell, nexus] as Program[])("$name --help", (program) => {
  it("fits 80 columns", () => {
    expect(tooLong(programHelp(program))).toEqual([]);
  });

  it.each(program.entries)("$name: fits, and shows how it is used", async (entry) => {
    const command = await entry.load();
    expect(tooLong(commandHelp(program, entry, command))).toEqual([]);
    expect(entry.summary).toMatch(/^[^A-Z].*[^.]$|^JSON/);
    expect(command.examples?.length ?? 0).toBeGreaterThan(0);
    // Each is a paragraph of its own: none stops in the middle of a sentence.
    for (const words of command.about ?? []) expect(words).toMatch(/[.!?)'}]$/);
    for (const [line] of command.examples ?? []) expect(line).toMatch(/\b(?:nutshell|nexus)\b/);
  });
});

describe("nexus run --help", () => {
  it("says what a plan file holds, as refusals of one promise", async () => {
    const entry = nexus.entries.find(({ name }) => name === "run")!;
    const page = plain(commandHelp(nexus, entry, await entry.load())).join(" ");
    for (const field of [...Object.keys(PlanFile.shape), "title", "owner", "deps", "files", "criteria"])
      expect(page).toMatch(new RegExp(`plan file .*\\b${field}\\b`));
    const [example] = /\{"tasks".*?\}\]\}/.exec(page.replace(/\s+/g, " "))!;
    expect(PlanFile.parse(JSON.parse(example)).tasks).toHaveLength(2);
  });
});

describe("the table of exit statuses", () => {
  it("is the same in the documents", () => {
    const text = readFileSync(new URL("../../docs/ci.md", import.meta.url), "utf8");
    const rows = [...text.matchAll(/^\| (\d+) \| (.+) \|$/gm)].map(([, status, meaning]) => [status, meaning]);
    expect(rows).toEqual(EXIT_STATUS);
  });
});

interface Used {
  readonly command: string;
  readonly name: string;
  readonly flag: Flag;
}

async function allFlags(): Promise<Used[]> {
  const all: Used[] = [];
  for (const program of [nutshell, nexus]) {
    for (const entry of program.entries) {
      const command = await entry.load();
      const own = Object.entries({ ...command.flags, ...globalFlags(command) });
      for (const [name, flag] of own) all.push({ command: `${program.name} ${entry.name}`, name, flag });
    }
  }
  return all;
}

/** Words that mean two things; each is natural where it stands. */
const TWO_MEANINGS: Readonly<Record<string, string>> = {
  allow: "a file that goes although it looks like a secret, and what less than proven is enough",
  text: "a diff of texts, and a value taken as text",
  scope: "what a credential may do, and how much of the machine a setup is for",
  peer: "who a bundle is sealed for, and the kind of key that makes one a peer",
  identity: "one Ed25519 key opens a sealed bundle, several age keys may open a vault",
  issue: "the title of a new issue, and the number of one",
  output: "a file, a folder or the beginning of names",
  from: "what a request begins from, and the bundle whose signer is meant",
  base: "a folder that holds the tree the work began with, and the commit it began with",
  at: "a folder of the request, and a moment",
  with: "a file that is to be delivered too, and a credential that is handed out",
  key: "a file with one's own key, and another's public key",
};

describe("the same flag for the same thing", () => {
  it("one spelling: letter, placeholder, and whether it may be given again", async () => {
    const spellings = new Map<string, Set<string>>();
    for (const { name, flag } of await allFlags()) {
      const letter = flag.short === undefined ? "" : `-${flag.short} `;
      const spelling = `${letter}--${name} ${flag.value ?? ""}${flag.many ? "…" : ""}`;
      spellings.set(name, (spellings.get(name) ?? new Set()).add(spelling));
    }
    const several = [...spellings].filter(([, all]) => all.size > 1);
    expect(several.filter(([name]) => TWO_MEANINGS[name] === undefined)).toEqual([]);
    expect(Object.keys(TWO_MEANINGS).filter((name) => spellings.get(name)?.size === 1)).toEqual([]);
  });

  it("one letter is one flag within a command", async () => {
    const seen = new Map<string, string>();
    for (const { command, name, flag } of await allFlags()) {
      if (flag.short === undefined) continue;
      const key = `${command} -${flag.short}`;
      expect(seen.get(key) ?? name, key).toBe(name);
      seen.set(key, name);
    }
  });

  it("placeholders are from one list of words", async () => {
    const words = new Set((await allFlags()).flatMap(({ flag }) => flag.value ?? []));
    expect([...words].sort()).toMatchInlineSnapshot(`
      [
        "<0..1>",
        "<NAME>",
        "<age1…>",
        "<bundle>",
        "<bytes>",
        "<commit>",
        "<dir>",
        "<field>",
        "<file>",
        "<host:port>",
        "<id>",
        "<key=value>",
        "<key>",
        "<kind>",
        "<level>",
        "<limit>",
        "<limits>",
        "<line>",
        "<n: why>",
        "<n>",
        "<name>",
        "<names>",
        "<origin>",
        "<path>",
        "<peer>",
        "<port>",
        "<request>",
        "<role>",
        "<scope>",
        "<shells>",
        "<status>",
        "<template>",
        "<text>",
        "<time>",
        "<title>",
        "<tokens>",
        "<type>",
        "<url>",
        "<what>",
        "<who>",
        "<word>",
      ]
    `);
  });

  it("a host is any of those there are", async () => {
    const about: string[] = [];
    for (const { load } of nexus.entries)
      for (const { name, about: words } of (await load()).positionals) if (name === "host") about.push(words);
    expect(about.length).toBeGreaterThan(2);
    for (const words of about) for (const host of HOST_NAMES) expect(words).toContain(host);
  });

  it("what a flag does is said in one voice", async () => {
    const odd = (await allFlags()).filter(
      ({ flag: { about } }) =>
        /^[A-Z][a-z]+ /.test(about) ||
        /\.$|default [^:]|may be given again|\bfolder>|current one|ask nothing/.test(about),
    );
    expect(odd.map(({ command, name, flag }) => [command, name, flag.about])).toEqual([]);
  });
});
