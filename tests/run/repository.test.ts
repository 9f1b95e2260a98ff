// A run in a clone of a repository, with the request beside it: both are watched, each by its own digest.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runNutshell } from "../cli/run-nutshell.js";
import { type Agent, helloRequest, MANIFEST, put, scratch, sweep, type World, world } from "./scripted.js";

let root: string;
let repo: string;
beforeEach(() => {
  root = scratch();
  repo = join(root, "repo");
  helloRequest(root);
  put(repo, { "files/hello.txt": "nothing\n", "README.md": "mine\n" });
  const git = (...args: string[]) => {
    const { status, stderr } = spawnSync("git", ["-C", repo, ...args], { encoding: "utf8" });
    expect(status, stderr).toBe(0);
  };
  git("init", "-q", "-b", "main");
  git("add", ".");
  git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "start");
});
afterEach(sweep);

const play =
  (act: () => void): Agent =>
  ({ role, cwd }) => {
    if (role === "engineer") put(cwd, { "files/hello.txt": "hello world\n" });
    if (role === "tester") act();
    return "VERDICT: pass\n- [passed] 1: files/hello.txt says so";
  };

const start = (act: (w: World) => void): Promise<World> => {
  let w: World;
  const agent = play(() => act(w));
  return world({ root, agent, options: { repo } }).then((made) => {
    w = made;
    return made;
  });
};

const AS = "git -c user.name=t -c user.email=t@example.org";
const inRepo = (...args: string[]) => {
  const identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
  const { status, stdout, stderr } = spawnSync("git", ["-C", repo, ...identity, ...args], { encoding: "utf8" });
  return { status, out: `${stdout}${stderr}` };
};

describe("a run in a repository", () => {
  it("records where it began, and carries a patch that plain git am applies", async () => {
    inRepo("remote", "add", "origin", "https://ada:hunter2@example.org/repo.git?token=x");
    put(join(root, "project"), { ".nexus/.gitignore": "state/\n" });
    put(repo, { ".nexus/.gitignore": "state/\n" });
    const w = await start(() => {});
    const { delivery } = await w.go();
    const { result } = delivery!;
    expect(w.events.filter(({ type }) => type === "warning")).toEqual([]);
    const commit = inRepo("rev-parse", "HEAD").out.trim();
    expect(result.base).toEqual({
      remote: "https://example.org/repo.git",
      branch: "main",
      commit,
      digest: expect.stringMatching(/^sha256:/),
    });
    const patch = join(w.folder.delivery, result.patch!);
    expect(inRepo("am", patch)).toMatchObject({ status: 0 });
    expect(inRepo("show", "HEAD:files/hello.txt").out).toBe("hello world\n");
    expect(inRepo("log", "-1", "--format=%an%n%B").out).toContain(`Nutshell-Delivery: ${result.id}`);
  });

  it("says which files are not there: those of submodules, and nothing that was left in one counts as a change", async () => {
    put(join(root, "lib"), { "lib.txt": "lib\n" });
    const lib = spawnSync(
      "sh",
      ["-ec", `git init -q ../lib && git -C ../lib add . && ${AS} -C ../lib commit -qm lib`],
      { cwd: repo },
    );
    expect(lib.status).toBe(0);
    const added = inRepo(
      "-c",
      "protocol.file.allow=always",
      "submodule",
      "--quiet",
      "add",
      join(root, "lib"),
      "vendor/lib",
    );
    expect(added, added.out).toMatchObject({ status: 0 });
    inRepo("commit", "-qam", "with a submodule");
    put(repo, { "vendor/lib/.nexus/.gitignore": "state/\n" });
    const w = await start(() => {});
    expect((await w.go()).delivery?.result.status).toBe("completed");
    expect(w.events.flatMap((event) => (event.type === "warning" ? [event.message] : []))).toEqual([
      "files of submodules are not there for agents and checks: vendor/lib",
    ]);
  });

  it("says which files are pointers of Git LFS before an agent is started, and nothing of a text that speaks of them", async () => {
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${"a".repeat(64)}\nsize 5000000\n`;
    put(repo, {
      ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n",
      "README.md": `${pointer}${"more words\n".repeat(200)}`,
      ...Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`assets/${n}.bin`, pointer])),
    });
    inRepo("-c", "filter.lfs.clean=cat", "add", ".");
    inRepo("commit", "-qm", "with pointers");
    let saidBefore: unknown[] = [];
    const w: World = await start(() => {
      saidBefore = w.events.filter(({ type }) => type === "warning");
    });
    const { delivery } = await w.go();
    expect(delivery?.result.status).toBe("completed");
    const said =
      "Git LFS keeps these elsewhere, and agents and checks see pointers in their place: assets/1.bin, assets/2.bin, assets/3.bin and 2 more";
    expect(saidBefore).toEqual([expect.objectContaining({ message: said })]);
    expect(delivery?.result.execution_log?.issues_encountered).toContain(said);
  });

  it("says what is not installed before an agent is started, and shows agents what is", async () => {
    put(join(root, "request"), {
      "nutshell.json": JSON.stringify({
        ...MANIFEST,
        acceptance: { ...MANIFEST.acceptance, install: [{ path: "tests/install.sh", reads: ["README.md"] }] },
      }),
      "tests/install.sh": "mkdir -p .cache && cp README.md .cache/\n",
    });
    const seen: unknown[] = [];
    const agent: Agent = (request, emit) => {
      seen.push(request.installed?.folders.map(({ path }) => path));
      return play(() => {})(request, emit);
    };
    const env = { ...process.env, HOME: join(root, "home") };
    const w = await world({ root, agent, env, options: { repo } });
    await expect(w.go()).rejects.toMatchObject({ code: "INSTALL_NOT_ALLOWED", data: { path: "tests/install.sh" } });
    expect(w.started).toEqual([]);
    const { delivery } = await w.go(null, { options: { allow_install: true } });
    expect(delivery?.result.status).toBe("completed");
    expect(seen).toEqual(w.started.map(() => [".cache"]));
  });

  it("does not begin in a bare one, and says what does", async () => {
    const bare = join(root, "bare.git");
    expect(inRepo("clone", "-q", "--bare", repo, bare).status).toBe(0);
    const w = await world({ root, agent: play(() => {}), options: { repo: bare } });
    await expect(w.go()).rejects.toMatchObject({
      code: "RUN_NO_REPOSITORY",
      hint: `git clone ${bare} '<folder>'`,
    });
  });

  it("does not begin where no repository is, nor in a folder of one, and names the one", async () => {
    const begin = async (folder: string) =>
      (await world({ root, agent: play(() => {}), options: { repo: folder } })).go();
    const request = join(root, "request");
    await expect(begin(request)).rejects.toMatchObject({
      code: "RUN_NO_REPOSITORY",
      message: `${request}: no git repository`,
      hint: "the same, without --repo",
    });
    const inside = join(repo, "files");
    await expect(begin(inside)).rejects.toMatchObject({
      code: "RUN_NO_REPOSITORY",
      message: `${inside}: only a folder of the repository ${repo}`,
      hint: `the same, with: --repo ${repo}`,
    });
  });

  it("does not begin in a partial clone that has not all files of its commit, and says how they are fetched", async () => {
    inRepo("config", "uploadpack.allowFilter", "true");
    const partial = join(root, "partial");
    const flags = ["-c", "protocol.file.allow=always", "clone", "-q", "--filter=blob:none", "--sparse"];
    expect(inRepo(...flags, `file://${repo}`, partial)).toMatchObject({ status: 0 });
    // What git tidies up by itself after the hint's fetch would still be at it when the folder goes.
    for (const setting of ["maintenance.auto", "gc.auto"]) inRepo("-C", partial, "config", setting, "0");
    const begin = async () => (await world({ root, agent: play(() => {}), options: { repo: partial } })).go();
    const hint = `git -C ${partial} fetch --refetch --no-filter`;
    await expect(begin()).rejects.toMatchObject({
      code: "RUN_NO_REPOSITORY",
      message: `${partial}: a partial clone, and it lacks files of the commit`,
      hint,
    });
    const { delivery } = await (await start(() => {})).go();
    const applied = await runNutshell(["apply", delivery!.path, "--repo", partial, "--branch", "done"], { cwd: root });
    expect(applied.err).toContain(`${partial}: a partial clone, and it lacks files of the commit\n`);
    expect(applied.err).toContain(hint);
    expect(spawnSync("sh", ["-c", hint]).status).toBe(0);
    expect((await begin()).delivery?.result.status).toBe("completed");
  });

  it("says where a name lies that cannot be delivered: in the repository, since the clone is gone by then", async () => {
    const name = Buffer.concat([Buffer.from(`${repo}/files/b`), Buffer.from([0xff])]);
    writeFileSync(name, "x");
    inRepo("add", ".");
    inRepo("commit", "-qm", "odd");
    const w = await world({ root, agent: play(() => {}), options: { repo } });
    await expect(w.go()).rejects.toMatchObject({ code: "SOURCE_UNSAFE", hint: `ls -b ${join(repo, "files")}` });
  });

  it("delivers what it changed in the clone", async () => {
    const w = await start(() => {});
    expect((await w.go()).delivery?.result).toMatchObject({
      status: "completed",
      artifacts: { files_created: [], files_modified: [{ path: "delivery/artifacts/files/hello.txt" }] },
    });
  });

  it.each<[string, (w: World) => void]>([
    ["the request's tests", (w) => put(w.folder.request, { "tests/hello.sh": "exit 0\n" })],
    ["the clone it began with", (w) => put(w.folder.base, { "README.md": "theirs\n" })],
  ])("stops when %s were changed while agents worked", async (_, act) => {
    const w = await start(act);
    await expect(w.go()).rejects.toMatchObject({ code: "RUN_TREE_MOVED" });
  });
});
