import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { productSkill } from "../../src/commands/more/skill.js";
import { runNutshell } from "../cli/run-nutshell.js";
import { root } from "./console.js";

const text = readFileSync(join(root, "SKILL.md"), "utf8");

describe("SKILL.md", () => {
  it("has the frontmatter skills have, and fits into 2,500 tokens", () => {
    const head = parse(/^---\n([\s\S]*?)\n---\n/.exec(text)![1]!) as Record<string, unknown>;
    expect(Object.keys(head)).toEqual(["name", "description", "compatibility", "metadata"]);
    expect(head.name).toBe("nutshell");
    expect(String(head.description).length).toBeLessThan(1024);
    expect(encode(text).length).toBeLessThan(2500);
  });

  it("covers receiving, publishing, delivering and verifying", () => {
    for (const heading of ["## A. ", "## B. ", "## C. ", "## D. ", "## Conduct"])
      expect(text).toContain(`\n${heading}`);
  });

  it("is what both programs print, and is split into what hosts need", async () => {
    const { code, out } = await runNutshell(["skill"], { cwd: root });
    expect({ code, out }).toEqual({ code: 0, out: text });
    const { name, description, body } = productSkill();
    expect(name).toBe("nutshell");
    expect(description).toMatch(/^Package a task/);
    expect(body).toMatch(/^# nutshell and nexus\n/);
  });

  it.each([
    ["claude", ".claude/skills/nutshell/SKILL.md"],
    ["codex", ".agents/skills/nutshell/SKILL.md"],
    ["opencode", ".opencode/skills/nutshell/SKILL.md"],
  ])("is installed by nexus setup %s, and taken out again", (host, path) => {
    const place = mkdtempSync(join(tmpdir(), "nut-skill-"));
    try {
      const setup = (...flags: string[]) =>
        execFileSync(process.execPath, [join(root, "bin/nexus.js"), "setup", host, "--yes", "--quiet", ...flags], {
          cwd: place,
          env: { PATH: process.env.PATH, HOME: place },
        });
      setup();
      expect(readFileSync(join(place, path), "utf8")).toContain(productSkill().body);
      setup("--remove");
      expect(existsSync(join(place, path))).toBe(false);
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
  });
});
