// The versions that are supported and tried: said by the real programs, and written in docs/hosts.md and docs/drivers.md.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { askVersion, howKnown, KNOWN_VERSIONS, versionIn } from "../../src/process/index.js";
import { type Client, clientProgram } from "./clients.js";
import versions from "./clients.json" with { type: "json" };
import { ROOT } from "./hook-process.js";

const read = (name: string) => readFileSync(join(ROOT, "docs", name), "utf8");
const TITLES = {
  claude: "Claude Code",
  codex: "Codex",
  opencode: "OpenCode",
  qwen: "Qwen Code",
  gemini: "Gemini CLI",
} as const;
const NAMES = Object.keys(TITLES) as (keyof typeof TITLES)[];

it.each(NAMES.filter((name) => clientProgram(name as Client) !== null))(
  "%s says the version that was tried",
  async (name) => {
    const path = clientProgram(name)!;
    const said = await askVersion({ path, env: { PATH: `${dirname(path)}:${process.env.PATH}` } });
    expect(howKnown(versionIn(said ?? "") ?? "", KNOWN_VERSIONS[name]), said ?? "nothing").toBe("tried");
  },
);

it("docs/hosts.md says which versions are supported, and docs/drivers.md with which agents of the protocol it was tried", () => {
  const row = (name: keyof typeof TITLES) =>
    `| ${TITLES[name]} | ${KNOWN_VERSIONS[name].oldest} | ${KNOWN_VERSIONS[name].tried} |`;
  expect(NAMES.map(row).filter((line) => !read("hosts.md").includes(line))).toEqual([]);
  const agents = Object.entries(versions).filter(([name]) => name.startsWith("@agentclientprotocol/"));
  const rows = agents.map(([name, version]) => `| \`${name.split("/")[1]}\` | ${version}`);
  expect(rows.filter((line) => !read("drivers.md").includes(line))).toEqual([]);
});

it.each(["hosts.md", "drivers.md"])("docs/%s names tests and sources that exist", (name) => {
  const named = [...read(name).matchAll(/(?:src\/(?:drivers|schema)|tests)\/[\w./-]+\.ts\b/g)].map(([path]) => path);
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

it.skipIf(clientProgram("opencode") === null)("OpenCode carries a Bun, which doctor tries the plugin with", () => {
  const env = { PATH: process.env.PATH, BUN_BE_BUN: "1" };
  const { stdout } = spawnSync(clientProgram("opencode")!, ["--version"], { env, encoding: "utf8" });
  expect([versionIn(stdout) === null, versionIn(stdout) === KNOWN_VERSIONS.opencode.tried]).toEqual([false, false]);
});
