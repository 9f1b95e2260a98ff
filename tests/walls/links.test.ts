// Our own process is held by no sandbox, so it must not write through a link that an agent or a check could have planted.
// Each place that writes with plain calls stands here with the reason why nobody can have been there before it.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const source = fileURLToPath(new URL("../../src", import.meta.url));
const FOLDERS = ["run", "drivers", "trees", "acceptance", "session", "mcp"];
const WRITES =
  /\b(?:writeFileSync|appendFileSync|mkdirSync|rmSync|rmdirSync|unlinkSync|renameSync|symlinkSync|linkSync|copyFileSync|cpSync|chmodSync|chownSync|utimesSync|truncateSync|createWriteStream|mkdtempSync|atomicWrite|writeFile)\(|openSync\([^)]*(?:"[aw]|O_WRONLY|O_RDWR|O_CREAT)/;

/** No sandbox can write there: a run's own folders beside slots and homes, a person's output, a new temporary folder. */
const OURS = "a folder of the run that no sandbox can write to";
const FRESH = "a new folder nobody else was in";
const CHECKED = "every folder on the way is looked at before, when nobody is at work there any more";
const INSIDE = "runs inside the sandbox itself";
const PROJECT = "the person's own project, whose layout is checked for links before";
const LOOKOUT = "what the harness keeps of a session outside the project, where no agent works";
const ROOM = "a room's own folder beside what the room can write to, or a copy made before anything runs in it";

/** By file. */
const KNOWN: Readonly<Record<string, string>> = {
  "run/agents/agent-request.ts": OURS,
  "run/agents/attempt.ts": OURS,
  "run/agents/keep-login.ts": OURS,
  "run/agents/session-home.ts": OURS,
  "run/agents/tool-line.ts": FRESH,
  "run/agents/watch-agent.ts": OURS,
  "run/deliver/accept-run.ts": OURS,
  "run/deliver/checkpoint.ts": OURS,
  "run/deliver/deliver.ts": OURS,
  "run/deliver/place-bundle.ts": "beside the file the person named",
  "run/demo/agent.ts": INSIDE,
  "run/execute-run.ts": OURS,
  "run/open/open-run.ts": OURS,
  "run/open/preview.ts": FRESH,
  "run/open/workspace.ts": OURS,
  "run/record/folder.ts": OURS,
  "run/record/journal.ts": OURS,
  "run/record/options.ts": OURS,
  "drivers/logins.ts": "the person's own login, its link followed on purpose",
  "trees/blobs.ts": LOOKOUT,
  "trees/git/store.ts": FRESH,
  "trees/kept-tree.ts": LOOKOUT,
  "trees/merge.ts": FRESH,
  "trees/objects.ts": CHECKED,
  "trees/result-tree.ts": CHECKED,
  "trees/slots.ts": "removes links as links; what goes back into a slot goes through objects.ts",
  "trees/tree-guard.ts": PROJECT,
  "acceptance/hidden.ts": FRESH,
  "acceptance/line-programs.ts": INSIDE,
  "acceptance/room/open-air.ts": FRESH,
  "acceptance/room/build-trees.ts": ROOM,
  "acceptance/room/outputs.ts": ROOM,
  "acceptance/room/rooms.ts": ROOM,
  "acceptance/run-acceptance.ts": OURS,
  "acceptance/runners/wrappers.ts": INSIDE,
  "acceptance/service.ts": FRESH,
  "acceptance/ways-out.ts": FRESH,
  "session/effects.ts": PROJECT,
  "session/knowledge.ts": PROJECT,
  "session/lookout.ts": PROJECT,
  "session/settings-watch.ts": PROJECT,
};

function writersIn(folder: string): string[] {
  const names = readdirSync(join(source, folder), { recursive: true, encoding: "utf8" });
  return names
    .filter((name) => /\.ts$/.test(name) && !/\.test\.ts$/.test(name))
    .filter((name) => WRITES.test(readFileSync(join(source, folder, name), "utf8")))
    .map((name) => `${folder}/${name}`);
}

describe("plain writes of our own process", () => {
  it("are all known, with a reason each", () => {
    expect(FOLDERS.flatMap(writersIn).sort()).toEqual(Object.keys(KNOWN).sort());
  });
});
