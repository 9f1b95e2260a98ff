// Our own process is held by no sandbox, so it must not write through a link that an agent, a check or a stranger's repository
// could have planted. Every file of src/ that writes stands here with the reason why nothing can have been planted before it.
import { spawnSync } from "node:child_process";
import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readUses, recordUses, USES_PATH } from "../../src/vault/index.js";
import { Desk } from "../vault/run.js";

const source = fileURLToPath(new URL("../../src", import.meta.url));

/** What of node:fs changes something. Reading, looking and what needs an open file are left out. */
const READS = new Set(
  (
    "accessSync closeSync constants createReadStream existsSync fdatasyncSync fstatSync fsyncSync ftruncateSync lstatSync openSync " +
    "read readFileSync readSync readdirSync readlinkSync realpathSync statSync statfsSync watch writeSync " +
    "BigIntStats Dirent FSWatcher FileHandle Stats"
  ).split(" "),
);
const OPENS_TO_WRITE = /openSync\([^;]*?(?:"[aw]|"r\+|O_WRONLY|O_RDWR|O_CREAT|O_APPEND|\bflags\b|FLAGS)/;
/** Our own that write under a name they are given. Those of files/inside.ts follow no link. */
const OURS_THAT_WRITE =
  /\b(?:atomicWrite|writeBeside|replaceFiles|writeInFolder|placeFiles|takeName|makeFolder)\(|new NamelessFile\(/;
const IMPORT = /import (?:type )?([^;]*?) from "node:fs(\/promises)?"/g;

/** No sandbox can write there: a run's own folders beside slots and homes. */
const OURS = "a folder of the run that no sandbox can write to";
const FRESH = "a new folder nobody else was in";
const CHECKED = "every folder on the way is looked at before, when nobody is at work there any more";
const INSIDE = "runs inside the sandbox itself";
const PROJECT = "the person's own project, whose layout is checked for links before";
const LOOKOUT = "what the harness keeps of a session outside the project, where no agent works";
const ROOM = "a room's own folder beside what the room can write to, or a copy made before anything runs in it";
const NAMED = "what the person named, or beside it; a name in it is replaced and not followed";
const SETTINGS = "the person's own settings, records and keys, in folders nobody else may write to";
const STATE =
  "the project's state: its folders are checked for links, its files opened or replaced without following one";
const TOOL = "does what its callers ask for; they stand here";
const STAGE = "a copy of ours, before anybody else can reach it";

const WORKER = "a worker's own folders, made for it alone; the run inside keeps its agents to slots and homes";

/** By file. */
const KNOWN: Readonly<Record<string, string>> = {
  "acceptance/room/overlay-works.ts": ROOM,
  "broker/ssh-agent.ts": FRESH,
  "commands/nexus/fleet/fetch.ts": NAMED,
  "commands/nexus/fleet/submit.ts": NAMED,
  "commands/nexus/fleet/work.ts": WORKER,
  "commands/nexus/race/bench.ts": NAMED,
  "commands/nexus/race/make-tries.ts": NAMED,
  "commands/nexus/race/race.ts": NAMED,
  "commands/nexus/race/tries.ts": NAMED,
  "commands/nexus/run/export.ts": NAMED,
  "commands/nexus/run/run-several.ts": NAMED,
  "fleet/checkpoints.ts": WORKER,
  "fleet/held-job.ts": WORKER,
  "fleet/reconcile.ts": NAMED,
  "fleet/request-place.ts": WORKER,
  "fleet/run-job.ts": WORKER,
  "fleet/stored-files.ts": TOOL,
  "import/commit-tree.ts": FRESH,
  "process/in-overlay.ts": OURS,
  "request/export/write-harbor.ts": NAMED,
  "run/record/credential-uses.ts": OURS,
  "run/record/prune.ts": OURS,
  "trees/layered.ts": OURS,
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
  "run/record/stop-run.ts": OURS,
  "drivers/logins.ts": "the person's own login, its link followed on purpose",
  "trees/blobs.ts": LOOKOUT,
  "trees/git/store.ts": FRESH,
  "trees/kept-tree.ts": LOOKOUT,
  "trees/merge.ts": FRESH,
  "trees/objects.ts": CHECKED,
  "trees/folders.ts": CHECKED,
  "trees/result-tree.ts": CHECKED,
  "trees/slots.ts": "removes links as links; what goes back into a slot goes through objects.ts",
  "trees/tree-guard.ts": PROJECT,
  "trees/unlock.ts": "gives its owner back what may be read, when whoever worked there is gone; a link is never shut",
  "acceptance/hidden.ts": FRESH,
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
  "acceptance/install/make-layer.ts": CHECKED,
  "drivers/installed.ts": CHECKED,
  "process/ask-version.ts": FRESH,
  "request/install/cache.ts": SETTINGS,
  "bundle/manifest/manifest.ts": NAMED,
  "bundle/read/attached.ts": NAMED,
  "bundle/read/content.ts": "opens to read",
  "bundle/read/file-store.ts": FRESH,
  "bundle/read/file-writer.ts": FRESH,
  "bundle/read/open-bundle.ts": FRESH,
  "bundle/read/unpack-bundle.ts": FRESH,
  "bundle/write/bundle-writer.ts": NAMED,
  "commands/nexus/catalog/build.ts": NAMED,
  "commands/nexus/conformance/run-fixture.ts": FRESH,
  "commands/nexus/hosts/borrowed-home.ts": FRESH,
  "commands/nexus/hosts/doctor-checks.ts": FRESH,
  "commands/nexus/hosts/receipt.ts": SETTINGS,
  "commands/nexus/hosts/setup.ts": SETTINGS,
  "commands/nutshell/acceptance/accept.ts": NAMED,
  "commands/nutshell/acceptance/apply.ts": NAMED,
  "commands/nutshell/acceptance/judge.ts": NAMED,
  "commands/nutshell/bundle/init.ts": FRESH,
  "commands/nutshell/bundle/schema.ts": NAMED,
  "commands/nutshell/market/claim.ts": FRESH,
  "commands/nutshell/market/kept-copies.ts": SETTINGS,
  "commands/nutshell/market/market-bundle.ts": FRESH,
  "commands/nutshell/market/publish.ts": SETTINGS,
  "commands/nutshell/view/export.ts": NAMED,
  "files/clear-away.ts": TOOL,
  "files/atomic-write.ts": TOOL,
  "files/foreign-folder.ts": CHECKED,
  "files/inside.ts": CHECKED,
  "files/make-folder.ts": TOOL,
  "files/nameless-file.ts": TOOL,
  "files/replace-files.ts": TOOL,
  "files/rename-over.ts": TOOL,
  "files/take-name.ts": TOOL,
  "process/control-group.ts": "the kernel's own file system",
  "process/leftovers.ts": "removes links as links, and only names we give",
  "process/sandbox.ts": ROOM,
  "process/seccomp.ts": FRESH,
  "registry/blobs.ts": FRESH,
  "registry/file-part.ts": "opens to read",
  "request/apply/delivery-patch.ts": STAGE,
  "request/signatures/edit-trust.ts": SETTINGS,
  "request/finish/finish-work.ts": STAGE,
  "request/finish/work-changes.ts": STAGE,
  "request/hidden/hide-checks.ts": NAMED,
  "request/pack/new-folder.ts": FRESH,
  "request/records/record-file.ts": SETTINGS,
  "request/signatures/registry.ts": NAMED,
  "request/signatures/signatures.ts": NAMED,
  "request/vault/both-or-neither.ts": NAMED,
  "request/vault/lending.ts": FRESH,
  "request/vault/vault-folder.ts": NAMED,
  "request/open/work-folder.ts": FRESH,
  "state/artifacts.ts": STATE,
  "state/file-lock.ts": STATE,
  "state/group.ts": STATE,
  "state/ledger.ts": STATE,
  "state/lock.ts": STATE,
  "state/store.ts": STATE,
  "state/tool-log.ts": STATE,
  "tools/report.ts": OURS,
  "vault/secret-file.ts": SETTINGS,
  "web/board/act.ts": FRESH,
  "web/board/start-program.ts": FRESH,
};

const sources = readdirSync(source, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name))
  .map((name) => ({ name, text: readFileSync(join(source, name), "utf8") }));

/** Names a file takes from node:fs, as Node knows them; null when it takes all of it under a name of its own. */
function taken(text: string): string[] | null {
  const imports = [...text.matchAll(IMPORT)];
  if (imports.some(([, names]) => !names!.startsWith("{"))) return null;
  return imports.flatMap(([, names]) =>
    names!
      .replace(/[{}]/g, "")
      .split(",")
      .map((name) =>
        name
          .trim()
          .replace(/^type /, "")
          .replace(/ as .*/, ""),
      )
      .filter((name) => name !== ""),
  );
}

function writes({ text }: { readonly text: string }): boolean {
  const names = taken(text) ?? ["*"];
  const plain = names.some((name) => !READS.has(name));
  return plain || (names.includes("openSync") && OPENS_TO_WRITE.test(text)) || OURS_THAT_WRITE.test(text);
}

const REQUIRES = /(?:require|import)\(\s*["'](?:node:)?fs(?:\/promises)?["']/;
/** Programs that run inside a room, as text. */
const PROGRAMS_OF_ROOMS = ["acceptance/line-programs.ts", "acceptance/runners/wrappers.ts"];
/** A thread as text, which only reads. */
const READERS = ["registry/hash-apart.ts"];

describe("plain writes of our own process", () => {
  it("are all known, with a reason each", () => {
    const writers = sources.filter(writes).map(({ name }) => name);
    expect(writers.sort()).toEqual(Object.keys(KNOWN).sort());
  });

  it("are seen: node:fs is only taken by the names of its calls", () => {
    const asWhole = sources.filter(({ text }) => taken(text) === null || REQUIRES.test(text));
    expect(asWhole.map(({ name }) => name).sort()).toEqual([...PROGRAMS_OF_ROOMS, ...READERS]);
    const calls = sources
      .filter(({ name }) => READERS.includes(name))
      .map(({ text }) => text.match(/\{[^}]*\} = require\("node:fs"\)/)?.[0]);
    expect(calls).toEqual(['{ openSync, readSync } = require("node:fs")']);
  });
});

describe("a folder an agent worked in", () => {
  let desk: Desk;
  let theirs: string;
  beforeEach(() => {
    desk = new Desk();
    theirs = join(desk.home, ".bashrc");
    writeFileSync(theirs, "mine\n");
  });
  afterEach(() => {
    expect(readFileSync(theirs, "utf8")).toBe("mine\n");
    desk.remove();
  });

  const use = [{ name: "$(id)", at: "2026-01-01T00:00:00Z", purpose: "exec" }];
  const planted: Readonly<Record<string, (place: string) => void>> = {
    "a link": (place) => symlinkSync(theirs, place),
    "a second name": (place) => linkSync(theirs, place),
    "a pipe": (place) => spawnSync("mkfifo", [place]),
    "a link for its folder": (place) => {
      rmSync(dirname(place), { recursive: true });
      symlinkSync(desk.home, dirname(place));
    },
  };

  it.each(Object.keys(planted))("gets no record of credentials written through %s", (how) => {
    const place = join(desk.dir, USES_PATH);
    mkdirSync(dirname(place), { recursive: true });
    planted[how]!(place);
    expect(() => recordUses(desk.dir, use)).toThrow(/behind a link|no folder of ours/);
    expect(readUses(desk.dir)).toEqual([]);
    expect(readdirSync(desk.home)).toEqual([".bashrc"]);
  });

  it("keeps its record where there is nothing in the way, also when the person named a link", () => {
    symlinkSync(desk.dir, desk.path("task-link"));
    for (const dir of [desk.dir, desk.path("task-link")]) recordUses(dir, use);
    expect(readUses(desk.dir)).toEqual([...use, ...use]);
  });

  it("gets nothing mended through a link", async () => {
    const more = { bundle_type: "delivery", request_id: "nut-00000000-0000-4000-8000-000000000002" };
    desk.folder(desk.dir, { ...more, status: "completed" });
    mkdirSync(join(desk.dir, "delivery"));
    writeFileSync(join(desk.dir, "delivery/work.txt"), "work\n");
    writeFileSync(theirs, "delivery/\n");
    symlinkSync(theirs, join(desk.dir, ".nutignore"));
    const { err, out } = await desk.run(["check", "--fix"]);
    expect(readFileSync(theirs, "utf8"), out + err).toBe("delivery/\n");
    writeFileSync(theirs, "mine\n");
  });
});
