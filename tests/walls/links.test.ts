// Our own process is held by no sandbox, so it must not write through a link that an agent or a check could have planted.
// Each place that writes with plain calls stands here with the reason why nobody can have been there before it.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const source = fileURLToPath(new URL("../../src", import.meta.url));
const FOLDERS = ["run", "drivers", "trees", "acceptance", "session", "mcp"];
const WRITES =
  /\b(?:writeFileSync|appendFileSync|mkdirSync|rmSync|rmdirSync|unlinkSync|renameSync|symlinkSync|linkSync|copyFileSync|cpSync|chmodSync|chownSync|utimesSync|truncateSync|openSync|createWriteStream|mkdtempSync|atomicWrite|writeFile)\(/g;

/** No sandbox can write there: a run's own folders beside slots and homes, a person's output, a new temporary folder. */
const OURS = "a folder of the run that no sandbox can write to";
const FRESH = "a new folder nobody else was in";
const CHECKED = "every folder on the way is looked at before, when nobody is at work there any more";
const INSIDE = "runs inside the sandbox itself";
const PROJECT = "the person's own project, whose layout is checked for links before";
const ROOM = "a room's own folder beside what the room can write to, or a copy made before anything runs in it";

/** By file: the reason, and the calls it is a reason for. */
const KNOWN: Readonly<Record<string, readonly [reason: string, calls: string]>> = {
  "run/agents/agent-request.ts": [OURS, "mkdirSync writeFileSync"],
  "run/agents/attempt.ts": [OURS, "writeFileSync"],
  "run/agents/session-home.ts": [OURS, "mkdirSync"],
  "run/agents/tool-line.ts": [FRESH, "mkdtempSync rmSync"],
  "run/agents/watch-agent.ts": [OURS, "appendFileSync"],
  "run/deliver/accept-run.ts": [OURS, "mkdirSync rmSync"],
  "run/deliver/checkpoint.ts": [OURS, "mkdirSync"],
  "run/deliver/deliver.ts": [OURS, "cpSync mkdirSync rmSync writeFileSync"],
  "run/demo/agent.ts": [INSIDE, "mkdirSync rmSync writeFileSync"],
  "run/execute-run.ts": [OURS, "atomicWrite rmSync"],
  "run/open/open-run.ts": [OURS, "mkdirSync rmSync"],
  "run/open/preview.ts": [FRESH, "mkdtempSync rmSync"],
  "run/open/workspace.ts": [OURS, "mkdirSync renameSync rmSync"],
  "run/record/folder.ts": [OURS, "mkdirSync rmSync rmdirSync writeFileSync"],
  "run/record/journal.ts": [OURS, "atomicWrite openSync"],
  "run/record/options.ts": [OURS, "atomicWrite"],
  "drivers/inherit.ts": ["in a folder that was opened without following links", "rmSync symlinkSync"],
  "trees/merge.ts": [FRESH, "mkdtempSync rmSync writeFileSync"],
  "trees/objects.ts": [CHECKED, "chmodSync copyFileSync mkdirSync renameSync rmSync symlinkSync writeFileSync"],
  "trees/result-tree.ts": [CHECKED, "chmodSync copyFileSync mkdirSync rmSync symlinkSync"],
  "trees/slots.ts": [
    "removes links as links; what goes back into a slot goes through objects.ts",
    "cpSync mkdirSync rmSync",
  ],
  "trees/tree-guard.ts": [PROJECT, "atomicWrite chmodSync cpSync mkdirSync rmSync"],
  "acceptance/hidden.ts": [FRESH, "chmodSync mkdirSync rmSync writeFileSync"],
  "acceptance/room/build-trees.ts": [ROOM, "copyFileSync mkdirSync openSync symlinkSync utimesSync writeFileSync"],
  "acceptance/room/outputs.ts": [ROOM, "copyFileSync mkdirSync symlinkSync"],
  "acceptance/room/rooms.ts": [
    ROOM,
    "chmodSync copyFileSync mkdirSync mkdtempSync rmSync symlinkSync utimesSync writeFileSync",
  ],
  "acceptance/run-acceptance.ts": [OURS, "mkdirSync writeFileSync"],
  "acceptance/runners/wrappers.ts": [INSIDE, "writeFileSync"],
  "acceptance/service.ts": [FRESH, "mkdtempSync rmSync"],
  "session/effects.ts": [PROJECT, "atomicWrite mkdirSync rmSync writeFileSync"],
  "session/knowledge.ts": [PROJECT, "atomicWrite mkdirSync"],
};

function writesOf(folder: string): [string, string][] {
  const names = readdirSync(join(source, folder), { recursive: true, encoding: "utf8" });
  return names
    .filter((name) => /\.ts$/.test(name) && !/\.test\.ts$/.test(name))
    .map((name): [string, string] => [`${folder}/${name}`, callsIn(readFileSync(join(source, folder, name), "utf8"))])
    .filter(([, calls]) => calls !== "");
}

const callsIn = (text: string): string =>
  [...new Set((text.match(WRITES) ?? []).map((call) => call.slice(0, -1)))].sort().join(" ");

describe("plain writes of our own process", () => {
  it("are all known, with a reason each", () => {
    const found = Object.fromEntries(FOLDERS.flatMap(writesOf).sort());
    expect(found).toEqual(Object.fromEntries(Object.entries(KNOWN).map(([file, [, calls]]) => [file, calls])));
  });
});
