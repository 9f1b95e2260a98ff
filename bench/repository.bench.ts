// A large repository: what a run costs beside one `git worktree add`, and what it leaves. Run: npm run bench -- repository
// FILES (44,000 unless told) are made here; the agent writes one line.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const FILES = Number(process.env.FILES ?? 44_000);
const work = mkdtempSync(join(tmpdir(), "nut-bench-repository-"));

function put(path: string, text: string): void {
  mkdirSync(dirname(join(work, path)), { recursive: true });
  writeFileSync(join(work, path), text);
}

const git = (...args: string[]) =>
  execFileSync("git", ["-C", join(work, "repo"), "-c", "user.name=b", "-c", "user.email=b@example.org", ...args], {
    env: { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: "/dev/null" },
    stdio: "ignore",
  });

function seconds(what: () => void): number {
  const started = performance.now();
  what();
  return (performance.now() - started) / 1_000;
}

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
  put("project/.keep", "");

  const peer = seconds(() => git("worktree", "add", "-q", "--detach", join(work, "tree")));
  const ours = seconds(() => {
    const options = ["--repo", "../repo", "--plan", "../plan.json", "--jobs", "3", "-o", "out.nut", "--quiet"];
    const agent = ["--driver", "command", "--command", "sh -c 'echo hello > NOTE.md; echo done'"];
    const { status, stderr } = spawnSync(
      process.execPath,
      [join(root, "bin/nexus.js"), "run", "../request", ...options, ...agent],
      { cwd: join(work, "project"), encoding: "utf8", env: { ...process.env, NUTCRACKER_CONSENT: "all" } },
    );
    if (status !== 0) throw new Error(`nexus run ended with ${status}: ${stderr}`);
  });
  const left = kilobytes(join(work, "project/.nexus"));
  const row = (...cells: readonly string[]) => console.log(cells.join(" | "));
  row("work", "ours", "peer", "ratio", "target", "ok");
  const ratio = ours / peer;
  const isQuick = ratio <= 2;
  const isSmall = left <= 5_000;
  row(
    `nexus run --repo, ${FILES} files; peer: git worktree add`,
    `${ours.toFixed(1)} s`,
    `${peer.toFixed(1)} s`,
    ratio.toFixed(2),
    "≤ 2",
    isQuick ? "yes" : "NO",
  );
  row("left in .nexus after it", `${left} kB`, "–", "–", "≤ 5000 kB", isSmall ? "yes" : "NO");
  if (!isQuick || !isSmall) process.exitCode = 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}
