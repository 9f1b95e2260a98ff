import { expect, it } from "vitest";
import { isObeyed } from "./obeyed.js";
import { pathProblem } from "./safe-path.js";

it("lets folders stay that are called as every object's properties", () => {
  expect([".cargo/config.toml", "a/.github/prompts/x.md"].filter((path) => !isObeyed(path))).toEqual([]);
  const names = Object.getOwnPropertyNames(Object.prototype);
  expect(names.filter((name) => isObeyed(`${name}/has`))).toEqual([]);
});

it("sees through letters that some file systems do not see", () => {
  const odd = [
    ".cla\u00adude/x",
    ".clau\u200bde/x",
    "CLAUDE\ufe0f.md",
    "a/\u2060AGENTS.md",
    ".\u{e0020}mcp.json",
    ".CURSOR./x",
  ];
  expect(odd.filter((path) => !isObeyed(path))).toEqual([]);
  expect(pathProblem("a/.g\u00adit/config")?.[0]).toBe("BUNDLE_UNSAFE_PATH");
});

it("knows newer programs' files", () => {
  const files = [
    ".kilo/agent.md",
    "x/kilo.jsonc",
    "codebuff.json",
    "gptme.toml",
    ".bob/rules/a.md",
    ".gitlab/duo/mcp.json",
  ];
  const more = [
    ".rvmrc",
    "x/.bundle/config",
    ".eca/config.json",
    ".cecli.conf.yml",
    ".sourcegraph/a.rule.md",
    ".qodo/x",
  ];
  expect([...files, ...more].filter((path) => !isObeyed(path))).toEqual([]);
  expect([".gitlab/ci.yml", "bundle/x", "docs/kilo.md", "src/bob.ts"].filter(isObeyed)).toEqual([]);
});
