// nexus setup with settings as people have them: links to a folder of their own, other encodings, lines of Windows, a file that a
// running host writes at the same moment, files an earlier version left.
import { spawn, spawnSync } from "node:child_process";
import {
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { digest } from "../../src/commands/nexus/hosts/receipt.js";
import { runNexus } from "../state/run-nexus.js";
import { newPlace, type Place } from "./clients.js";

let place: Place;
beforeEach(() => {
  place = newPlace({ "a.txt": "a\n" });
});
afterEach(() => place.remove());

const at = (path: string) => join(place.root, path);
const bytes = (path: string) => readFileSync(at(path)).toString("latin1");
/** A link in the project, and what it leads to. */
function link(path: string, target: string): void {
  mkdirSync(dirname(at(path)), { recursive: true });
  symlinkSync(target, at(path));
}

describe("a settings file that is a link", () => {
  it("stays one: what it leads to is changed, and comes back to the byte", async () => {
    place.write("shared/settings.json", '{\n  "model": "opus"\n}\n');
    place.write("AGENTS.md", "# Mine\n");
    link(".claude/settings.json", "../shared/settings.json");
    link("CLAUDE.md", "AGENTS.md");
    for (const host of ["claude", "codex"]) expect((await place.nexusHere("setup", host)).exit).toBe(0);
    expect([readlinkSync(at(".claude/settings.json")), readlinkSync(at("CLAUDE.md"))]).toEqual([
      "../shared/settings.json",
      "AGENTS.md",
    ]);
    expect(place.json("shared/settings.json")).toMatchObject({ model: "opus", hooks: { PreToolUse: [{}] } });
    // One file for both: told once, and there until the last of them leaves.
    expect(place.read("AGENTS.md").match(/nexus:start/g)).toHaveLength(1);
    const again = await place.nexusHere("setup", "claude", "--json");
    expect(JSON.parse(again.stdout).changes).toEqual([]);
    await place.nexusHere("setup", "claude", "--remove");
    expect(place.read("CLAUDE.md")).toContain("nexus:start");
    await place.nexusHere("setup", "codex", "--remove");
    expect([place.read("shared/settings.json"), place.read("AGENTS.md")]).toEqual([
      '{\n  "model": "opus"\n}\n',
      "# Mine\n",
    ]);
    expect(lstatSync(at("CLAUDE.md")).isSymbolicLink()).toBe(true);
  });

  it("is a person's own affair in their own settings, wherever it leads", async () => {
    const own = join(place.home, ".claude/settings.json");
    mkdirSync(dirname(own));
    writeFileSync(join(place.home, "dotfiles.json"), "{}\n");
    symlinkSync(join(place.home, "dotfiles.json"), own);
    expect((await place.nexusHere("setup", "claude", "--scope", "user")).exit).toBe(0);
    expect(readFileSync(join(place.home, "dotfiles.json"), "utf8")).toContain("PreToolUse");
    expect((await place.nexusHere("setup", "claude", "--scope", "user", "--remove")).exit).toBe(0);
    expect([readFileSync(own, "utf8"), lstatSync(own).isSymbolicLink()]).toEqual(["{}\n", true]);
  });

  it.each([
    ["out of the project", "../../outside.md"],
    ["into git's own folder", ".git/description"],
    ["in a circle", "CLAUDE.md"],
  ])("is refused where it leads %s, and nothing is written", async (_, target) => {
    writeFileSync(join(place.root, "../outside.md"), "theirs\n");
    link("CLAUDE.md", target.replace("../../", "../"));
    const before = readdirSync(place.root);
    const { exit, stderr } = await place.nexusHere("setup", "claude");
    expect([exit, stderr]).toEqual([2, expect.stringContaining(`${at("CLAUDE.md")} is a link`)]);
    expect([readFileSync(join(place.root, "../outside.md"), "utf8"), readdirSync(place.root)]).toEqual([
      "theirs\n",
      before,
    ]);
  });
});

it.each([
  ["claude", "CLAUDE.md"],
  ["claude", ".claude/settings.json"],
  ["claude", ".claude/agents/tester.md"],
  ["opencode", "opencode.json"],
  ["qwen", ".qwen/settings.json"],
])("%s: refuses a pipe in place of %s, and does not wait for it", async (host, path) => {
  mkdirSync(dirname(at(path)), { recursive: true });
  spawnSync("mkfifo", [at(path)]);
  // So that whoever waits for it gets something at last.
  const writer = spawn("/bin/sh", ["-c", 'while :; do echo x >"$1"; done', "sh", at(path)], { stdio: "ignore" });
  try {
    for (const flags of [[], ["--remove"]]) {
      const { exit, stderr } = await place.nexusHere("setup", host, ...flags);
      const told = `${at(path)} is no regular file, and a file belongs there`;
      expect([exit, stderr]).toEqual([2, expect.stringContaining(told)]);
    }
    const doctor = await place.nexusHere("doctor", host);
    expect(doctor.stdout).not.toContain("no JSON");
    expect(statSync(at(path)).isFIFO()).toBe(true);
    expect(place.has(".mcp.json")).toBe(false);
  } finally {
    writer.kill("SIGKILL");
  }
});

it.each(["", " \n\n"])("takes settings without a word in them for what they are: %j", async (text) => {
  place.write(".claude/settings.json", text);
  expect((await place.nexusHere("setup", "claude", "--remove")).exit).toBe(0);
  expect(bytes(".claude/settings.json")).toBe(text);
  expect((await place.nexusHere("setup", "claude")).exit).toBe(0);
  // As on another machine, where nobody noted what was there.
  rmSync(join(place.home, ".local/state/nutcracker/setup"), { recursive: true });
  place.write(".claude/settings.json", text);
  expect((await place.nexusHere("setup", "claude", "--remove")).exit).toBe(0);
  expect(bytes(".claude/settings.json")).toBe(text);
});

it("refuses settings that are nested too deeply, and changes nothing", async () => {
  const text = `{"a":${"[".repeat(120)}${"]".repeat(120)}}`;
  place.write(".claude/settings.json", text);
  for (const flags of [[], ["--remove"]]) {
    const { exit, stderr } = await place.nexusHere("setup", "claude", ...flags);
    expect([exit, stderr]).toEqual([2, expect.stringContaining("settings.json is nested too deeply to be changed")]);
    expect([bytes(".claude/settings.json"), place.has("CLAUDE.md")]).toEqual([text, false]);
  }
});

it("refuses a file whose letters it cannot read, since they could not come back", async () => {
  for (const text of ["Gr\xfc\xdfe\n", "\xff\xfeA\0"]) {
    writeFileSync(at("AGENTS.md"), Buffer.from(text, "latin1"));
    const { exit, stderr } = await place.nexusHere("setup", "codex");
    expect([exit, stderr]).toEqual([2, expect.stringContaining("is not UTF-8 text; nothing was changed")]);
    expect(bytes("AGENTS.md")).toBe(text);
  }
});

it("writes lines as the file has them, also after git has changed them all", async () => {
  place.write("AGENTS.md", "# Mine\r\n");
  await place.nexusHere("setup", "codex");
  const ours = bytes("AGENTS.md");
  expect(ours.replaceAll("\r\n", "")).not.toContain("\n");
  for (const eol of ["\n", "\r\n"]) {
    writeFileSync(at("AGENTS.md"), ours.replaceAll("\r\n", eol), "latin1");
    expect(JSON.parse((await place.nexusHere("setup", "codex", "--json")).stdout).changes).toEqual([]);
  }
  place.write("AGENTS.md", `${ours}more\r\n`);
  await place.nexusHere("setup", "codex", "--remove");
  expect(bytes("AGENTS.md")).toBe("# Mine\r\n\r\nmore\r\n");
});

it("does not overwrite what a running host wrote while the person was asked", async () => {
  const settings = join(place.home, ".claude.json");
  writeFileSync(settings, '{"numStartups": 1}\n');
  const before = readdirSync(place.home);
  const confirm = async () => {
    writeFileSync(settings, '{"numStartups": 2}\n');
    return true;
  };
  const env = { HOME: place.home, PATH: process.env.PATH ?? "" };
  const argv = ["setup", "claude", "--scope", "user"];
  const { code, err } = await runNexus(argv, { cwd: place.root, env, ask: { confirm } as never });
  expect([code, err]).toEqual([2, expect.stringContaining(`${settings} was changed meanwhile`)]);
  expect(readFileSync(settings, "utf8")).toBe('{"numStartups": 2}\n');
  expect(readdirSync(place.home)).toEqual(before);
});

it("takes out what an earlier version wrote and this one does not, but not what a person changed or keeps elsewhere", async () => {
  await place.nexusHere("setup", "claude");
  const setups = join(place.home, ".local/state/nutcracker/setup");
  const path = join(setups, readdirSync(setups)[0]!);
  const receipt = JSON.parse(readFileSync(path, "utf8"));
  const earlier = [
    ".claude/agents/old.md",
    ".claude/skills/old/SKILL.md",
    ".claude/agents/mine.md",
    "other/agents/x.md",
  ];
  for (const name of earlier) {
    place.write(name, "old\n");
    receipt.files.push({ path: at(name), before: null, after: digest("old\n") });
  }
  receipt.folders.push(at(".claude/skills/old"), at("other"), at("other/agents"));
  writeFileSync(path, JSON.stringify({ ...receipt, version: "0.0.1" }));
  place.write(".claude/agents/mine.md", "mine now\n");
  const updated = await place.nexusHere("setup", "claude");
  expect([updated.exit, earlier.map((name) => place.has(name))]).toEqual([0, [false, false, true, true]]);
  expect(place.has(".claude/skills/old")).toBe(false);
  expect(JSON.parse((await place.nexusHere("setup", "claude", "--json")).stdout).changes).toEqual([]);
  // Another folder of settings (CLAUDE_CONFIG_DIR) may hold a set-up of its own: only --remove takes that out.
  await place.nexusHere("setup", "claude", "--remove");
  expect([place.has("other"), place.read(".claude/agents/mine.md")]).toEqual([false, "mine now\n"]);
});

it("is taken out by who did not set it up, as after a move, with the folders made for it", async () => {
  place.write(".claude/agents/mine.md", "mine\n");
  const list = () =>
    readdirSync(place.root, { recursive: true, encoding: "utf8" }).filter((name) => !/^\.git\b/.test(name));
  const before = list().sort();
  for (const host of ["claude", "gemini"]) await place.nexusHere("setup", host);
  rmSync(join(place.home, ".local/state/nutcracker/setup"), { recursive: true });
  for (const host of ["claude", "gemini"]) expect((await place.nexusHere("setup", host, "--remove")).exit).toBe(0);
  expect(list().sort()).toEqual(before);
});

it.skipIf(process.getuid?.() !== 0)("leaves a file to its owner (needs root)", async () => {
  place.write(".claude/settings.json", "{}\n");
  chownSync(at(".claude/settings.json"), 12_345, 23_456);
  for (const more of [[], ["--remove"]]) {
    expect((await place.nexusHere("setup", "claude", ...more)).exit).toBe(0);
    const { uid, gid } = statSync(at(".claude/settings.json"));
    expect([uid, gid]).toEqual([12_345, 23_456]);
  }
});

it("takes a variable that is empty for none, and says where Claude Code does not", async () => {
  const env = { HOME: place.home, PATH: process.env.PATH ?? "", XDG_CONFIG_HOME: "", CLAUDE_CONFIG_DIR: "" };
  const run = (...argv: string[]) => runNexus([...argv, "--scope", "user"], { cwd: place.root, env });
  const before = readdirSync(place.root);
  expect((await run("setup", "opencode")).code).toBe(0);
  expect(readFileSync(join(place.home, ".config/opencode/opencode.json"), "utf8")).toContain("nexus");
  expect(await run("setup", "claude")).toMatchObject({
    code: 2,
    err: expect.stringContaining("unset CLAUDE_CONFIG_DIR"),
  });
  expect(readdirSync(place.root)).toEqual(before);
});
