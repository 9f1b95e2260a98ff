// A stranger's bundle tries to give orders to the programs of whoever unpacks it.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { isObeyed, packFolder, unpackBundle } from "../../src/bundle/index.js";
import { openRequest } from "../../src/run/open/workspace.js";
import { rebuildTree } from "../../src/trees/result-tree.js";
import { MANIFEST } from "../bundle/forge.js";
import { temporaryFolder } from "../bundle/temp.js";
import { runNutshell } from "../cli/run-nutshell.js";

const root = temporaryFolder();

function folder(files: readonly string[], manifest: object = MANIFEST): string {
  const path = join(mkdtempSync(join(root, "w-")), "task");
  const all: Record<string, string> = { "nutshell.json": JSON.stringify(manifest) };
  for (const name of files) all[name] = `content of ${name}`;
  for (const [name, content] of Object.entries(all)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), content);
  }
  return path;
}

const OBEYED = [
  ...["CLAUDE.md", "Claude.Local.md", "AGENTS.md", "AGENT.md", "GEMINI.md", "QWEN.md", "WARP.md", "CRUSH.md", ".rules"],
  ...[".claude/settings.json", ".mcp.json", ".agents/skills/x/SKILL.md", ".codex/config.toml", ".opencode/plugin/x.js"],
  ...["opencode.json", "opencode.jsonc", ".github/copilot-instructions.md", ".github/instructions/a.instructions.md"],
  ...[".cursor/rules/x.mdc", ".cursorrules", ".windsurfrules", ".windsurf/rules/x.md", ".qwen/settings.json"],
  ...[".gemini/settings.json", ".kiro/steering/x.md", ".roo/mcp.json", ".roorules-code", ".zed/tasks.json"],
  ...[".continue/config.yaml", ".aider.conf.yml", ".goosehints", ".junie/guidelines.md", ".amazonq/rules/x.md"],
  ...["mise.toml", ".mise.toml", "mise.local.toml", ".config/mise/config.toml", ".envrc", ".yarnrc.yml", ".npmrc"],
  ...[".vscode/tasks.json", ".vscode/settings.json", ".vscode/launch.json", ".idea/workspace.xml", "x.code-workspace"],
  ...[".devcontainer/devcontainer.json", ".devcontainer.json", ".nvim.lua", ".dir-locals.el", ".nexus/config.yml"],
  ...[
    ".pi/settings.json",
    "GROK.md",
    ".vibe/config.toml",
    ".kimi/config.toml",
    ".aiassistant/rules/x.md",
    ".serena/project.yml",
  ],
  ...[
    "conductor.json",
    ".mcp/servers.json",
    ".vs/tasks.vs.json",
    ".helix/languages.toml",
    ".bsp/sbt.json",
    ".luarc.json",
  ],
  ...[".pdbrc", ".irbrc", ".pryrc", ".ghci", ".iex.exs", ".Rprofile", ".venv/bin/python", ".pnp.cjs", ".corepack.env"],
  ...[".mvn/extensions.xml", ".cargo/config.toml", ".autoenv_leave.zsh", ".bazelrc", "repo.git/HEAD"],
];
const HARMLESS = [
  "README.md",
  ".github/workflows/ci.yml",
  "src/claude.ts",
  "docs/agents.txt",
  "mise/readme.md",
  "head/index.ts",
  "src/head.ts",
  ".mvn/wrapper/maven-wrapper.properties",
  ".cargo/audit.toml",
  "rules",
];

describe("what programs obey", () => {
  it.each(OBEYED)("%s is known at the root and in every folder", (name) => {
    expect([name, `a/b/${name}`, `files/${name}`].map(isObeyed)).toEqual([true, true, true]);
  });

  it.each(HARMLESS)("%s is left alone", (name) => {
    expect([name, `a/b/${name}`].map(isObeyed)).toEqual([false, false]);
  });

  it("is set aside by unpack in every folder, unless it is trusted by its path", async () => {
    const names = OBEYED.filter((name) => !name.startsWith(".venv")).map((name) => `files/app/${name}`);
    const { path } = await packFolder(folder([...names, "files/app/main.ts"]), { output: join(root, "deep.nut") });
    const { dir, quarantined } = await unpackBundle(path, join(root, "deep"), { trust: ["files/app/.claude"] });
    const aside = names.filter((name) => !name.includes("/.claude/")).sort();
    expect([...quarantined].sort()).toEqual(aside);
    expect(aside.filter((name) => existsSync(join(dir, name)))).toEqual([]);
    expect(aside.every((name) => existsSync(join(dir, "quarantine", name)))).toBe(true);
    expect(existsSync(join(dir, "files/app/.claude/settings.json"))).toBe(true);
    expect(existsSync(join(dir, "files/app/main.ts"))).toBe(true);
  });

  it("is no repository that git obeys, whatever its folder is called", async () => {
    const source = folder(["files/app/main.ts"]);
    const ran = join(dirname(source), "ran");
    const hostile = join(source, "files/app/docs");
    const git = (cwd: string, ...args: string[]) => spawnSync("git", args, { cwd, env: { PATH: process.env.PATH } });
    git(source, "init", "-q", "--bare", hostile);
    for (const name of ["objects/info", "refs/heads"]) writeFileSync(join(hostile, name, "keep"), "");
    writeFileSync(
      join(hostile, "config"),
      `[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = "touch '${ran}'; false"\n`,
    );
    git(hostile, "status");
    expect(existsSync(ran)).toBe(true);
    rmSync(ran);
    const { path } = await packFolder(source, { output: join(dirname(source), "x.nut") });
    const { dir, quarantined } = await unpackBundle(path, join(dirname(source), "out"));
    expect(quarantined).toContain("files/app/docs/HEAD");
    for (const place of ["files/app/docs", "quarantine/files/app/docs"]) git(join(dir, place), "status");
    expect(existsSync(ran)).toBe(false);
  });

  it("is named by inspect, which unpacks nothing", async () => {
    const cwd = dirname(folder(["files/app/CLAUDE.md", "files/app/main.ts"]));
    await runNutshell(["pack", "task", "x.nut"], { cwd });
    for (const flags of [[], ["--manifest"]]) {
      const { out } = await runNutshell(["inspect", "x.nut", "--json", ...flags], { cwd });
      expect(JSON.parse(out).findings).toMatchObject([{ code: "PROGRAMS_OBEY", path: "files/app/CLAUDE.md" }]);
    }
  });

  it("is set aside in a run's copy of a request folder, and said", async () => {
    const source = folder(["files/app/AGENTS.md", "files/app/main.ts"]);
    const target = join(dirname(source), "request");
    const { warnings } = await openRequest(source, target, [], {
      cwd: root,
      env: {},
      now: () => new Date(),
      signal: new AbortController().signal,
      progress: () => {},
      ask: null,
      stdin: () => Readable.from([]),
      stdout: () => new PassThrough(),
    });
    expect(warnings).toEqual(["set aside, because programs would obey them: files/app/AGENTS.md"]);
    expect(existsSync(join(target, "files/app/AGENTS.md"))).toBe(false);
    expect(existsSync(join(target, "quarantine/files/app/AGENTS.md"))).toBe(true);
    expect(existsSync(join(target, "files/app/main.ts"))).toBe(true);
  });

  it("is set aside in a delivery too, and is still part of its result", async () => {
    const source = folder(["delivery/artifacts/AGENTS.md", "delivery/artifacts/main.ts"]);
    const { path } = await packFolder(source, { output: join(root, "delivery.nut") });
    const { dir, quarantined } = await unpackBundle(path, join(root, "delivery"));
    expect(quarantined).toEqual(["delivery/artifacts/AGENTS.md"]);
    const [base, rebuilt] = [folder(["main.ts"]), join(root, "rebuilt")];
    rebuildTree(base, dir, { created: ["AGENTS.md"], modified: ["main.ts"], deleted: [] }, rebuilt);
    expect(readFileSync(join(rebuilt, "AGENTS.md"), "utf8")).toBe("content of delivery/artifacts/AGENTS.md");
    expect(readFileSync(join(rebuilt, "main.ts"), "utf8")).toBe("content of delivery/artifacts/main.ts");
  });
});
