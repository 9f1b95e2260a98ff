// Every command and every output in README.md and docs/ is real: run here, compared line by line.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { GLOBAL_FLAGS, type Program } from "../../src/cli/command.js";
import { program as nexus } from "../../src/commands/nexus/program.js";
import { program as nutshell } from "../../src/commands/nutshell/program.js";
import { hasNats } from "../fleet/nats.js";
import { matches, rewrite, root, runDocument, steps } from "./console.js";

const documents = [
  "README.md",
  "SKILL.md",
  "examples/README.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name)),
].filter((name) => existsSync(join(root, name)));

describe.concurrent("documents", () => {
  for (const name of documents) {
    const path = join(root, name);
    const text = readFileSync(path, "utf8");
    const all = steps(text);
    const needsNats = all.some(({ command }) => command.includes("<fleet>"));
    if (all.length > 0) {
      it.skipIf(needsNats && !hasNats)(
        `${name} shows what its ${all.length} commands print`,
        async () => {
          const outcomes = await runDocument(all);
          if (process.env.UPDATE_DOCS === "1") rewrite(path, outcomes);
          for (const { step, printed, status } of outcomes) {
            const at = `${name}:${step.from} $ ${step.command}`;
            expect(status, `${at}\n${printed}`).toBe(step.exit);
            if (process.env.UPDATE_DOCS === "1" || step.to === step.from) continue;
            if (!matches(step.output, printed)) expect(printed, at).toBe(`${step.output.join("\n")}\n`);
          }
          expect(outcomes.length).toBe(all.length);
        },
        240_000,
      );
    }

    it(`${name} names only commands and flags that exist`, async () => {
      for (const line of commandLines(text)) await expect(known(line), `${name}: ${line}`).resolves.toBe("known");
    });

    it(`${name} links to files and headings that exist`, () => {
      const broken = [...withoutBlocks(text).matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, target]) => target!)
        .filter((target) => !/^[a-z]+:/.test(target) && !leads(path, target));
      expect(broken).toEqual([]);
    });
  }
});

const withoutBlocks = (text: string) => text.replaceAll(/^```[^\n]*\n[\s\S]*?^```$/gm, "");

/** Command lines anywhere: in blocks, indented, and in backquotes when they carry more than a name. */
function commandLines(text: string): string[] {
  const blocks = text.match(/^ *(?:\$ )?(?:nutshell|nexus) [a-z].*$/gm) ?? [];
  const inline = [...withoutBlocks(text).matchAll(/`((?:nutshell|nexus) [a-z][^`\n]*)`/g)].map(([, line]) => line!);
  return [...blocks, ...inline].map((line) => line.trim().replace(/^\$ /, ""));
}

/** Reads the line with the command's own table: an unknown command or flag is a refusal. */
async function known(line: string): Promise<string> {
  const typed = line.replace(/\s+#.*$/, "").split(/\s*(?:[|;&]|(?<!<[^>]*)>)\s*/)[0]!;
  const words = [...typed.matchAll(/'[^']*'|"[^"]*"|<[^>]*>|\S+/g)].map(([word]) => word);
  const program: Program = words[0] === "nexus" ? nexus : nutshell;
  if (words[1] === "help" || words[1] === "version") return "known";
  const entry =
    program.entries.find(({ name }) => name === words.slice(1, 3).join(" ")) ??
    program.entries.find(({ name }) => name === words[1]);
  if (entry === undefined) return `no command: ${words.slice(0, 3).join(" ")}`;
  const command = await entry.load();
  const flags = words.slice(1).filter((word) => /^--?[a-z]/.test(word));
  const all = { ...command.flags, ...GLOBAL_FLAGS };
  const rest = words.indexOf("--");
  const names = new Set(Object.entries(all).flatMap(([name, flag]) => [`--${name}`, `-${flag.short ?? name}`]));
  const unknown = flags.filter(
    (flag) => (rest < 0 || words.indexOf(flag) < rest) && !names.has(flag.replace(/=.*$/, "")),
  );
  return unknown.length === 0 ? "known" : `no flag: ${unknown.join(" ")}`;
}

function leads(from: string, target: string): boolean {
  const [file, heading] = target.split("#") as [string, string | undefined];
  const path = file === "" ? from : join(dirname(from), file);
  if (!existsSync(path)) return false;
  if (heading === undefined) return true;
  const slug = (text: string) =>
    text
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-");
  return readFileSync(path, "utf8")
    .split("\n")
    .some((line) => /^#+ /.test(line) && slug(line.replace(/^#+ /, "")) === heading);
}

describe("docs/spec/bundle.md", () => {
  const spec = readFileSync(join(root, "docs/spec/bundle.md"), "utf8");
  const stated = [...spec.matchAll(/^- \*\*(B\d\.\d)\*\*/gm)].map(([, id]) => id!);
  const cited = [...spec.matchAll(/^\| (B\d\.\d) \| `([^`]+)`: (.+) \|$/gm)];

  it("has a test for every requirement, and no other", () => {
    expect(stated.length).toBeGreaterThan(15);
    expect([...new Set(cited.map(([, id]) => id))]).toEqual(stated);
  });

  it.each(cited.map(([, id, file, name]) => [id!, file!, name!]))("%s is tested in %s: %s", (_id, file, name) => {
    expect(readFileSync(join(root, file), "utf8")).toContain(`"${name}`);
  });
});

describe("docs/security.md", () => {
  const page = readFileSync(join(root, "docs/security.md"), "utf8");
  const claims = [...page.matchAll(/^\| (.+) \| `([^`]+\.test\.ts)`: (.+) \|$/gm)];

  it("points from every claim to a test", () => {
    expect(claims.length).toBeGreaterThan(50);
    const rows = page.split(/^\| claim \| test \|\n\|---\|---\|\n/m).slice(1);
    const claimed = rows.flatMap((part) => /^(?:\|.*\n)+/.exec(part)![0].trimEnd().split("\n"));
    expect(claimed.length).toBe(claims.length);
  });

  it.each(claims.map(([, claim, file, name]) => [claim!, file!, name!]))("%s: %s: %s", (_claim, file, name) => {
    const titles = readFileSync(join(root, file), "utf8").match(/(?:it|describe|\))[^\n(]*\(\s*["`'].*$/gm) ?? [];
    expect(titles.filter((title) => title.includes(name))).not.toEqual([]);
  });
});
