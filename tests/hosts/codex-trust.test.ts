// nexus doctor asks the real Codex which hooks it trusts, and leaves the person's folder of Codex as it was.
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, it } from "vitest";
import { clientProgram, newPlace, type Place } from "./clients.js";

const program = clientProgram("codex");
let place: Place;
beforeEach(() => {
  place = newPlace();
});
afterEach(() => place.remove());

interface Hook {
  readonly key: string;
  readonly currentHash: string;
}

/** What Codex itself lists, asked in a folder of its own. */
async function listed(home: string): Promise<Hook[]> {
  const env = { PATH: process.env.PATH, HOME: home };
  const child = spawn(program!, ["app-server"], { cwd: place.root, env, stdio: ["pipe", "pipe", "ignore"] });
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  send({ id: 1, method: "initialize", params: { clientInfo: { name: "test", version: "1" } } });
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const { id, result } = JSON.parse(line);
      if (id === 1) send({ method: "initialized" });
      if (id === 1) send({ id: 2, method: "hooks/list", params: { cwds: [place.root] } });
      if (id === 2) return result.data[0].hooks;
    }
    return [];
  } finally {
    child.kill("SIGKILL");
  }
}

/** Every path below with what is in it; not what nexus notes for itself. */
const tree = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => !name.startsWith(".local/state"))
      .sort()
      .map((name) => [
        name,
        statSync(join(folder, name)).isDirectory() ? "" : readFileSync(join(folder, name), "utf8"),
      ]),
  );

async function doctor(env: Readonly<Record<string, string>>) {
  const path = `${dirname(program!)}:${process.env.PATH}`;
  const { stdout } = await place.nexusWith({ PATH: path, ...env }, "doctor", "codex", "--json");
  const checks = JSON.parse(stdout).checks as { what: string; message: string }[];
  return checks.flatMap(({ what, message }) => (what.endsWith(" trust") ? [message] : []));
}

const trusting = (home: string, hooks: readonly Hook[]): string =>
  hooks
    .map(({ key, currentHash }) => [key.replace(/^.*\/asked\/\.codex\//, `${home}/`), currentHash])
    .map(([key, hash]) => `[hooks.state."${key}"]\ntrusted_hash = "${hash}"\n`)
    .join("");

it.skipIf(program === null).each<[string, (home: string) => Readonly<Record<string, string>>]>([
  ["the folder in the home", () => ({})],
  ["a folder named by a variable, through a link", (home) => ({ CODEX_HOME: join(home, "link") })],
])("leaves %s as it is, whatever is trusted", { timeout: 120_000 }, async (_, variables) => {
  const own = join(place.home, ".codex");
  mkdirSync(own);
  symlinkSync(".codex", join(place.home, "link"));
  const env = variables(place.home);
  // Without the files that settings name Codex lists nothing.
  writeFileSync(join(own, "mine.md"), "Be kind.\n");
  writeFileSync(join(own, "auth.json"), "{}");
  writeFileSync(join(place.home, "compact.md"), "Be short.\n");
  const files = 'model_instructions_file = "mine.md"\nexperimental_compact_prompt_file = "../compact.md"\n';
  const settings = `${files}[projects."${place.root}"]\ntrust_level = "trusted"\n`;
  writeFileSync(join(own, "config.toml"), settings);
  await place.nexusHere("setup", "codex");
  await place.nexusHere("setup", "codex", "--scope", "user");
  const asked = join(place.home, "../asked");
  mkdirSync(join(asked, ".codex"), { recursive: true });
  for (const name of ["hooks.json", "config.toml", "mine.md"])
    writeFileSync(join(asked, ".codex", name), readFileSync(join(own, name)));
  writeFileSync(join(asked, "compact.md"), "Be short.\n");
  const hooks = await listed(asked);
  expect(hooks).toHaveLength(18);

  const before = tree(place.home);
  expect(await doctor(env)).toEqual([
    expect.stringMatching(/^18 of 18 hooks are not trusted/),
    expect.stringMatching(/^18 of 18 hooks are not trusted/),
  ]);
  expect(tree(place.home)).toEqual(before);

  const config = readFileSync(join(own, "config.toml"), "utf8");
  writeFileSync(join(own, "config.toml"), `${config}\n${trusting(own, hooks)}`);
  const trusted = tree(place.home);
  expect(await doctor(env)).toEqual(["all 18 hooks are trusted", "all 18 hooks are trusted"]);
  expect(tree(place.home)).toEqual(trusted);
});
