// A large repository: what a run costs beside one `git worktree add`, and what it leaves. Run: npm run bench -- repository
// FILES (44,000 unless told) are made here; the agent writes one line. What the same run takes in a repository of one file is what
// sessions and checks take themselves. The disk's own count of free blocks says what a run takes
// while it lasts, so nothing else should write meanwhile.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const FILES = Number(process.env.FILES ?? 44_000);
const work = mkdtempSync(join(tmpdir(), "nut-bench-repository-"));

function put(path: string, text: string): void {
  mkdirSync(dirname(join(work, path)), { recursive: true });
  writeFileSync(join(work, path), text);
}

// Without git's own collecting in the background, which the one below would meet.
const OWN = ["user.name=b", "user.email=b@example.org", "gc.auto=0"].flatMap((setting) => ["-c", setting]);
const gitIn = (repo: string, ...args: string[]) =>
  execFileSync("git", ["-C", join(work, repo), ...OWN, ...args], {
    env: { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: "/dev/null" },
    stdio: "ignore",
  });
const git = (...args: string[]) => gitIn("repo", ...args);

/** As a person runs it, in a project of its own. */
async function runIn(repo: string, project: string): Promise<number> {
  mkdirSync(join(work, project));
  const started = performance.now();
  const options = ["--repo", `../${repo}`, "--plan", "../plan.json", "--jobs", "3", "-o", "out.nut", "--quiet"];
  const agent = ["--driver", "command", "--command", "sh -c 'echo hello > NOTE.md; echo done'"];
  const run = spawn(process.execPath, [join(root, "bin/nexus.js"), "run", "../request", ...options, ...agent], {
    cwd: join(work, project),
    env: { ...process.env, NUTCRACKER_CONSENT: "all" },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [status] = await once(run, "exit");
  if (status !== 0) throw new Error(`nexus run ended with ${status}`);
  return (performance.now() - started) / 1_000;
}

function seconds(what: () => void): number {
  const started = performance.now();
  what();
  return (performance.now() - started) / 1_000;
}

/** What the run itself wrote down for its one check. */
const roomSeconds = (result: string): number =>
  JSON.parse(readFileSync(result, "utf8")).acceptance_results.criteria[0].duration_ms / 1_000;

/** As a host starts it, in the person's own checkout. */
function hookSeconds() {
  const cwd = join(work, "repo");
  mkdirSync(join(cwd, ".nexus/state"), { recursive: true });
  const fire = (event: string, agent: string) =>
    seconds(() => {
      const input = { session_id: "s", cwd, hook_event_name: event, agent_id: agent, agent_type: "reviewer" };
      const { status, stderr } = spawnSync(process.execPath, [join(root, "dist/hook/hook.js"), "claude"], {
        cwd,
        input: JSON.stringify({ ...input, last_assistant_message: "VERDICT: pass" }),
        env: { PATH: process.env.PATH, HOME: join(work, "home") },
        encoding: "utf8",
      });
      if (status !== 0) throw new Error(`the hook ended with ${status}: ${stderr}`);
    });
  mkdirSync(join(work, "home"));
  const first = fire("SubagentStart", "a1");
  fire("SubagentStop", "a1");
  const unchanged = { start: fire("SubagentStart", "a2"), end: fire("SubagentStop", "a2") };
  // As it is in a session: somebody who may edit did, and this one does although it may not.
  put("repo/packages/p7/src/f7.ts", "edited\n");
  put("repo/packages/p9/src/new.ts", "new\n");
  const changed = { start: fire("SubagentStart", "a3") };
  put("repo/packages/p7/src/f227.ts", "edited by who may not\n");
  return { first, ...unchanged, changed: { ...changed, end: fire("SubagentStop", "a3") } };
}

const freeKilobytes = (): number => {
  const { bavail, bsize } = statfsSync(work);
  return (bavail * bsize) / 1024;
};

const kilobytes = (path: string): number =>
  Number(execFileSync("du", ["-sk", path], { encoding: "utf8" }).split("\t")[0]);

try {
  for (let i = 0; i < FILES; i += 1)
    put(`repo/packages/p${i % 220}/src/f${i}.ts`, `export const f${i} = ${i};\n`.repeat((i % 97) + 1));
  git("init", "-q");
  git("add", "--all");
  git("commit", "-qm", "start");
  git("gc", "-q");
  const manifest = {
    ...{ nutshell_version: "0.2.0", bundle_type: "request", id: "nut-00000000-0000-4000-8000-00000000000a" },
    ...{ task: { title: "A note", summary: "Write NOTE.md" }, acceptance: { criteria_file: "tests/criteria.json" } },
  };
  put("request/nutshell.json", JSON.stringify(manifest));
  put("request/tests/criteria.json", '{"criteria":[{"id":"AC-1","type":"shell","script":"tests/note.sh"}]}');
  put("request/tests/note.sh", 'test "$(cat NOTE.md)" = hello\n');
  put("plan.json", '{"tasks":[{"title":"write NOTE.md","files":["NOTE.md"]}]}');
  put("one/file.ts", "export const f = 1;\n");
  gitIn("one", "init", "-q");
  gitIn("one", "add", "--all");
  gitIn("one", "commit", "-qm", "start");

  const sessions = await runIn("one", "small");
  const peer = seconds(() => git("worktree", "add", "-q", "--detach", join(work, "tree")));
  const checkout = kilobytes(join(work, "tree"));
  const free = freeKilobytes();
  let least = free;
  const watch = setInterval(() => {
    least = Math.min(least, freeKilobytes());
  }, 50);
  const started = performance.now();
  const ours = await runIn("repo", "project");
  clearInterval(watch);
  const runs = join(work, "project/.nexus/state/nutcracker/runs");
  const hasTrash = () => readdirSync(join(runs, readdirSync(runs)[0]!)).some((name) => name.startsWith(".trash"));
  while (hasTrash()) await setTimeout(50);
  const freed = (performance.now() - started) / 1_000;
  const left = kilobytes(join(work, "project/.nexus"));
  const room = roomSeconds(join(runs, readdirSync(runs)[0]!, "delivery/delivery/result.json"));
  const hooks = hookSeconds();
  const row = (...cells: readonly string[]) => console.log(cells.join(" | "));
  row("work", "ours", "peer", "ratio", "target", "ok");
  const ratio = (ours - sessions) / peer;
  const isQuick = ratio <= 2;
  const isSmall = left <= 5_000;
  row(
    `nexus run --repo, ${FILES} files, less ${sessions.toFixed(1)} s of the same run in one file; peer: git worktree add`,
    `${(ours - sessions).toFixed(1)} s`,
    `${peer.toFixed(1)} s`,
    ratio.toFixed(2),
    "≤ 2",
    isQuick ? "yes" : "NO",
  );
  const taken = (free - least) / checkout;
  row(
    "disk taken while it lasts; peer: one checkout",
    `${taken.toFixed(2)} ×`,
    "1 ×",
    taken.toFixed(2),
    "≤ 1.3",
    taken <= 1.3 ? "yes" : "NO",
  );
  row("until the clone's space is back, after the answer", `${(freed - ours).toFixed(1)} s`, "–", "–", "–", "–");
  const limit = (what: string, seconds: number, most: number) => {
    row(what, `${seconds.toFixed(2)} s`, "–", "–", `≤ ${most} s`, seconds <= most ? "yes" : "NO");
    if (seconds > most) process.exitCode = 1;
  };
  limit("one trivial check in its room", room, 0.5);
  limit("hook at the start of a role that may not edit", hooks.start, FILES > 100_000 ? 1.5 : 0.4);
  limit("hook at its end", hooks.end, FILES > 100_000 ? 1.5 : 0.4);
  limit("hook at the start, files changed since the last one", hooks.changed.start, FILES > 100_000 ? 1.5 : 0.4);
  limit("hook at its end, when a change is put back", hooks.changed.end, FILES > 100_000 ? 1.5 : 0.4);
  row("hook at the very first start, when every file is read once", `${hooks.first.toFixed(2)} s`, "–", "–", "–", "–");
  row("left in .nexus after it", `${left} kB`, "–", "–", "≤ 5000 kB", isSmall ? "yes" : "NO");
  if (!isQuick || !isSmall || taken > 1.3) process.exitCode = 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}
