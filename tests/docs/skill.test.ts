import { readFileSync } from "node:fs";
import { join } from "node:path";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { productSkill } from "../../src/operations/skill.js";
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
});
