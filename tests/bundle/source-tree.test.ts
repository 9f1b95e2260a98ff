// Long because: one subject, folders on disk, and the fixtures they share.
import { execFileSync, spawnSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { listFolder, openBundle, packFolder, unpackBundle } from "../../src/bundle/index.js";
import { MANIFEST } from "./forge.js";
import { temporaryFolder } from "./temp.js";

const root = temporaryFolder();

function folder(files: Readonly<Record<string, string>> = {}): string {
  const path = join(mkdtempSync(join(root, "t-")), "in");
  mkdirSync(path);
  for (const [name, content] of Object.entries({ "nutshell.json": JSON.stringify(MANIFEST), ...files })) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), content);
  }
  return path;
}

const listed = (path: string) => listFolder(path).entries.map(({ path: name }) => name);
const output = (path: string) => join(dirname(path), "out.nut");

describe("a folder that cannot travel", () => {
  it.each([
    ["a link to outside", (path: string) => symlinkSync("/etc/passwd", join(path, "l"))],
    ["a link to inside", (path: string) => symlinkSync("nutshell.json", join(path, "l"))],
    ["a link to a folder", (path: string) => symlinkSync("/etc", join(path, "d"))],
    ["a broken link", (path: string) => symlinkSync("nowhere", join(path, "l"))],
    ["a named pipe", (path: string) => execFileSync("mkfifo", [join(path, "pipe")])],
    ["a name with a backslash", (path: string) => writeFileSync(join(path, "a\\b"), "")],
    ["a name with a newline", (path: string) => writeFileSync(join(path, "a\nb"), "")],
    ["a name with an escape", (path: string) => writeFileSync(join(path, "\x1b[31m"), "")],
    [
      "a name that is not UTF-8",
      (path: string) => writeFileSync(Buffer.concat([Buffer.from(`${path}/`), Buffer.from([0xff])]), ""),
    ],
    [
      "a link in place of .nutignore",
      (path: string) => symlinkSync("/dev/zero", join(path, ".nutignore")),
      "FILE_UNREADABLE",
    ],
    ["a pipe in place of .nutignore", (path: string) => execFileSync("mkfifo", [join(path, ".nutignore")])],
  ] as const)("is refused for %s, and nothing is written", async (_name, spoil, code?: string) => {
    const path = folder();
    (spoil as (path: string) => void)(path);
    const refusal = { code: code ?? "SOURCE_UNSAFE" };
    await expect(packFolder(path, { output: output(path) })).rejects.toMatchObject(refusal);
    expect(readdirSync(dirname(path))).toEqual(["in"]);
  });

  it("is refused for a socket", async () => {
    const path = folder();
    const server = createServer().listen(join(path, "s"));
    await new Promise((resolve) => server.once("listening", resolve));
    await expect(packFolder(path, { output: output(path) })).rejects.toMatchObject({ code: "SOURCE_UNSAFE" });
    await new Promise((resolve) => server.close(resolve));
  });

  it("is refused without a manifest, or with a link or a pipe in its place", async () => {
    const none = join(mkdtempSync(join(root, "t-")), "in");
    mkdirSync(none);
    await expect(packFolder(none, { output: output(none) })).rejects.toMatchObject({ code: "MANIFEST_MISSING" });
    symlinkSync("/etc/passwd", join(none, "nutshell.json"));
    await expect(packFolder(none, { output: output(none) })).rejects.toMatchObject({ code: "FILE_UNREADABLE" });
    const piped = join(mkdtempSync(join(root, "t-")), "in");
    mkdirSync(piped);
    execFileSync("mkfifo", [join(piped, "nutshell.json")]);
    await expect(packFolder(piped, { output: output(piped) })).rejects.toMatchObject({ code: "MANIFEST_INVALID" });
  });

  it.each([
    ["grows", (file: string) => appendFileSync(file, "more")],
    ["shrinks", (file: string) => truncateSync(file, 100)],
    ["becomes a link", (file: string) => execFileSync("ln", ["-sf", "/etc/passwd", file])],
  ])("is refused when a file %s while it is packed", async (_name, change) => {
    const path = folder({ "a.bin": "a".repeat(2_000_000), "b.bin": "b".repeat(2_000_000) });
    const target = join(path, "b.bin");
    const isLink = _name === "becomes a link";
    let calls = 0;
    const observe = (name: string) => {
      if (isLink && name === "a.bin") change(target);
      if (name !== "b.bin" || isLink) return null;
      return {
        chunk: () => {
          calls += 1;
          if (calls === 1) change(target);
        },
        end: () => {},
      };
    };
    await expect(packFolder(path, { output: output(path), observe })).rejects.toMatchObject({
      code: isLink ? "FILE_UNREADABLE" : "SOURCE_CHANGED",
    });
    expect(readdirSync(dirname(path))).toEqual(["in"]);
  });
});

describe("a small file that changed after it was listed", () => {
  it.each([
    ["grew", (file: string) => appendFileSync(file, " and more")],
    ["shrank", (file: string) => truncateSync(file, 3)],
    ["was emptied", (file: string) => truncateSync(file, 0)],
  ])("is packed as it is now when it %s", async (_name, change) => {
    const path = folder({ "a.txt": "first", "b.txt": "second", "c.txt": "third" });
    const observe = (name: string) => {
      if (name === "a.txt") change(join(path, "b.txt"));
      return null;
    };
    const packed = await packFolder(path, { output: output(path), observe });
    const bundle = await openBundle(packed.path);
    expect(await bundle.verify()).toEqual([]);
    for (const name of ["a.txt", "b.txt", "c.txt"]) {
      expect(await bundle.readText(name)).toBe(readFileSync(join(path, name), "utf8"));
    }
    await bundle.close();
  });

  it("is refused when a pipe took its place, without waiting for it", async () => {
    const path = folder({ "a.txt": "first", "b.txt": "second" });
    const observe = (name: string) => {
      if (name !== "a.txt") return null;
      rmSync(join(path, "b.txt"));
      execFileSync("mkfifo", [join(path, "b.txt")]);
      return null;
    };
    await expect(packFolder(path, { output: output(path), observe })).rejects.toMatchObject({ code: "SOURCE_CHANGED" });
    expect(readdirSync(dirname(path))).toEqual(["in"]);
  });
});

describe("what is packed", () => {
  it("leaves out version control, harness state, the output and our leftovers, and nothing else", async () => {
    const path = folder({
      ".git/config": "x",
      "sub/.git": "gitdir: elsewhere",
      ".hg/x": "x",
      ".nexus/state/plan.json": "{}",
      ".nexus/rules/a.md": "x",
      ".hidden/x": "x",
      ".env.sample": "x",
      ".out.nut.nut-tmp-1-1": "x",
      "node_modules/a/index.js": "x",
    });
    const inside = join(path, "self.nut");
    for (let run = 0; run < 2; run += 1) await packFolder(path, { output: inside });
    const bundle = await openBundle(inside);
    expect((await bundle.list()).map(({ path: name }) => name)).toEqual([
      "nutshell.json",
      ".env.sample",
      ".hidden/x",
      ".nexus/rules/a.md",
    ]);
    const { left } = listFolder(path, { exclude: [inside] });
    expect(left.map(({ path: name }) => name).sort()).toEqual(
      [".git/", ".hg/", ".nexus/state/", ".out.nut.nut-tmp-1-1", "node_modules/", "self.nut", "sub/.git"].sort(),
    );
  });

  it("shows every byte to an observer, which may stop the pack", async () => {
    const path = folder({ a: "secret", "b/c": "x".repeat(1_500_000) });
    writeFileSync(output(path), "the old bundle");
    const seen: Record<string, number> = {};
    const observe = (name: string) => ({
      chunk: (bytes: Buffer) => {
        seen[name] = (seen[name] ?? 0) + bytes.length;
      },
      end: () => {},
    });
    await packFolder(path, { output: join(dirname(path), "x.nut"), observe });
    expect(seen).toEqual({ a: 6, "b/c": 1_500_000 });
    const stop = () => ({
      chunk: () => {
        throw new Error("leak");
      },
      end: () => {},
    });
    await expect(packFolder(path, { output: output(path), observe: stop })).rejects.toThrow("leak");
    expect(readFileSync(output(path), "utf8")).toBe("the old bundle");
    expect(readdirSync(dirname(path)).sort()).toEqual(["in", "out.nut", "x.nut"]);
  });

  it("stops when it is told to, and leaves nothing behind", async () => {
    const path = folder({ a: "x".repeat(100), b: "y" });
    const controller = new AbortController();
    const packing = packFolder(path, {
      output: output(path),
      signal: controller.signal,
      onProgress: () => controller.abort("SIGINT"),
    });
    await expect(packing).rejects.toBe("SIGINT");
    expect(readdirSync(dirname(path))).toEqual(["in"]);
  });

  it.skipIf(spawnSync("unshare", ["-m", "true"]).status !== 0)(
    "never reports success on a full disk, and keeps the old bundle",
    () => {
      const path = folder({
        noise: Buffer.from(Array.from({ length: 60_000 }, (_, i) => (i * i * 31) % 251)).toString("latin1"),
      });
      const program = join(root, "full.mjs");
      // One process for all disks: each is a file system of its own.
      writeFileSync(
        program,
        `import { readdirSync, readFileSync } from "node:fs";
         import { packFolder } from ${JSON.stringify(new URL("../../dist/lib/bundle.js", import.meta.url).href)};
         const [, , folder, ...disks] = process.argv;
         const said = [];
         for (const disk of disks) {
           const output = disk + "/o.nut";
           const code = await packFolder(folder, { output, compression: "none" }).then(() => "packed", (error) => error.code);
           said.push([code, readdirSync(disk), readFileSync(output, "latin1").slice(0, 3)]);
         }
         console.log(JSON.stringify(said));`,
      );
      const full = [4, 8, 60, 100, 124];
      const disks = [...full, 2000].map((kib) => ({ kib, at: mkdtempSync(join(root, "full-")) }));
      const mounts = disks.map(
        ({ kib, at }) => `mount -t tmpfs -o size=${kib}k none '${at}' && printf old > '${at}/o.nut'`,
      );
      const script = `${mounts.join(" && ")} && exec node "$0" "$@"`;
      const run = spawnSync("unshare", ["-m", "sh", "-c", script, program, path, ...disks.map(({ at }) => at)], {
        encoding: "utf8",
      });
      expect(JSON.parse(run.stdout), run.stderr).toEqual([
        ...full.map(() => ["DISK_FULL", ["o.nut"], "old"]),
        ["packed", ["o.nut"], "NUT"],
      ]);
    },
  );
});

describe(".nutignore", () => {
  const FILES = {
    "a.log": "",
    "b.txt": "",
    "build/x.js": "",
    "build/keep.js": "",
    "docs/a.log": "",
    "docs/deep/b.log": "",
    "src/build/y.js": "",
    "notes.txt": "",
    "#hash": "",
    "trailing ": "",
    "sub/keep.log": "",
  };
  const CASES: readonly (readonly [string, string])[] = [
    ["suffix", "*.log\n"],
    ["negation", "*.log\n!docs/a.log\n"],
    ["folder anywhere", "build/\n"],
    ["anchored folder", "/build/\n"],
    ["re-inclusion under an excluded folder does nothing", "build/\n!build/keep.js\n"],
    ["re-inclusion under folder/*", "build/*\n!build/keep.js\n"],
    ["double star", "docs/**/*.log\n"],
    ["leading double star", "**/b.log\n"],
    ["CRLF", "*.log\r\nb.txt\r\n"],
    ["comment and escape", "# a comment\n\\#hash\n"],
    ["trailing space", "trailing\\ \n"],
    ["class", "[ab].txt\n"],
    ["unclosed class", "[ab.txt\n*.log\n"],
    ["question mark", "?.txt\n"],
    ["everything but one", "*\n!b.txt\n"],
    ["blank lines", "\n\n*.log\n\n"],
  ];

  it.each(CASES)("means what git means: %s", (_name, rules) => {
    const path = folder({ ...FILES, ".nutignore": rules });
    // One for all: it holds no files, and so knows nothing of the folder that was before this one.
    const git = join(root, "repo.git");
    if (!existsSync(git)) execFileSync("git", ["init", "-q", "--bare", git]);
    const options = {
      cwd: path,
      encoding: "utf8" as const,
      env: { ...process.env, GIT_DIR: git, GIT_WORK_TREE: path },
    };
    const theirs = execFileSync(
      "git",
      ["-c", "core.quotePath=false", "ls-files", "-z", "--others", "--exclude-per-directory=.nutignore"],
      options,
    );
    const expected = theirs
      .split("\0")
      .filter((name) => name !== "" && name !== "nutshell.json")
      .sort();
    expect(listed(path).sort()).toEqual(expected);
  });

  it("reads nested files, the nearest deciding", () => {
    const path = folder({
      ...FILES,
      ".nutignore": "*.log\n",
      "docs/.nutignore": "!a.log\ndeep/\n",
      "sub/.nutignore": "!keep.log\n",
    });
    expect(listed(path).filter((name) => name.endsWith(".log"))).toEqual(["docs/a.log", "sub/keep.log"]);
  });

  it("never leaves out the manifest", async () => {
    const path = folder({ ".nutignore": "*\nnutshell.json\n", a: "x" });
    const { files } = await packFolder(path, { output: output(path) });
    expect(files).toBe(1);
  });

  it("takes 100,000 patterns and a byte-order mark", () => {
    // A thousand different ones, again and again: compiling an expression takes a hundred times as long as asking it.
    const rules = Array.from({ length: 100_000 }, (_, index) => `nothing-${index % 1_000}`).join("\n");
    const path = folder({ ".nutignore": `\ufeffa.log\n${rules}\n`, "a.log": "", "b.log": "" });
    expect(listed(path)).toEqual([".nutignore", "b.log"]);
  });
});

describe("unpack", () => {
  const obeyed = [
    "CLAUDE.md",
    "AGENTS.md",
    ".mcp.json",
    ".claude/settings.json",
    ".codex/config.toml",
    ".nexus/config.yml",
    "claude.MD",
    "docs/CLAUDE.md",
    "sub/.mcp.json",
  ];

  it("sets aside what programs obey, unless it is trusted by name", async () => {
    const path = folder(Object.fromEntries([...obeyed, "docs/a.md"].map((name) => [name, "x"])));
    const { path: bundle } = await packFolder(path, { output: output(path) });
    const aside = await unpackBundle(bundle, join(dirname(path), "one"));
    expect([...aside.quarantined].sort()).toEqual([...obeyed].sort());
    expect(readdirSync(join(dirname(path), "one")).sort()).toEqual(["docs", "nutshell.json", "quarantine"]);
    expect(existsSync(join(dirname(path), "one/quarantine/.claude/settings.json"))).toBe(true);
    const trusted = await unpackBundle(bundle, join(dirname(path), "two"), { trust: ["CLAUDE.md", "./.claude/"] });
    expect(trusted.quarantined).not.toContain("CLAUDE.md");
    expect(existsSync(join(dirname(path), "two/.claude/settings.json"))).toBe(true);
    expect(existsSync(join(dirname(path), "two/AGENTS.md"))).toBe(false);
  });

  it("takes a new name or an empty folder, never a full one, a file or a link", async () => {
    const path = folder({ a: "x" });
    const box = dirname(path);
    const { path: bundle } = await packFolder(path, { output: output(path) });
    mkdirSync(join(box, "empty"));
    await unpackBundle(bundle, join(box, "empty"));
    for (const [name, make] of Object.entries({
      full: (at: string) => {
        mkdirSync(at);
        writeFileSync(join(at, "mine"), "x");
      },
      file: (at: string) => writeFileSync(at, "mine"),
      link: (at: string) => {
        mkdirSync(`${at}-target`);
        symlinkSync(`${at}-target`, at);
      },
    })) {
      make(join(box, name));
      await expect(unpackBundle(bundle, join(box, name))).rejects.toMatchObject({ code: "FILE_EXISTS" });
    }
    expect(readdirSync(join(box, "link-target"))).toEqual([]);
    await expect(unpackBundle(bundle, join(box, "no/such/parent"))).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
    await expect(unpackBundle(join(box, "no.nut"), join(box, "x"))).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
    await expect(unpackBundle(box, join(box, "x"))).rejects.toMatchObject({ code: "FILE_UNREADABLE" });
  });

  it("does not follow a link planted at the target while it works", async () => {
    const path = folder({ a: "x", b: "y" });
    const box = dirname(path);
    const { path: bundle } = await packFolder(path, { output: output(path) });
    mkdirSync(join(box, "victim"));
    const onProgress = ({ done }: { done: number }) => {
      if (done === 1) symlinkSync(join(box, "victim"), join(box, "out"));
    };
    await expect(unpackBundle(bundle, join(box, "out"), { onProgress })).rejects.toMatchObject({ code: "FILE_EXISTS" });
    expect(readdirSync(join(box, "victim"))).toEqual([]);
  });

  it("holds to the limits it is given", async () => {
    const path = folder({ a: "x".repeat(1000), b: "y".repeat(1000) });
    const { path: bundle } = await packFolder(path, { output: output(path) });
    const unpack = (limits: object) => unpackBundle(bundle, join(dirname(path), "out"), { limits });
    await expect(unpack({ maxEntries: 2 })).rejects.toMatchObject({ code: "BUNDLE_LIMIT" });
    await expect(unpack({ maxTotalBytes: 1500 })).rejects.toMatchObject({ code: "BUNDLE_LIMIT" });
    await unpack({ maxEntries: 3, maxTotalBytes: 10_000 });
  });

  it("refuses on Windows the names Windows cannot hold", async () => {
    for (const name of ["aux.txt", "a.", "xx:y", "PROGRA~1"]) {
      const path = folder({ [name]: "x" });
      const { path: bundle } = await packFolder(path, { output: output(path) });
      await expect(unpackBundle(bundle, join(dirname(path), "out"), { platform: "win32" })).rejects.toMatchObject({
        code: "BUNDLE_UNSAFE_PATH",
      });
      const { findings } = await unpackBundle(bundle, join(dirname(path), "out"), { platform: "linux" });
      expect(findings.map(({ code }) => code)).toEqual(["NAME_NOT_PORTABLE"]);
    }
  });
});

describe("legitimate names", () => {
  it("are never refused", () => {
    const path = folder();
    const name = fc.stringMatching(/^[\p{L}\p{N} _.,;=@#$%^&(){}[\]!'+~-]{1,40}$/u);
    fc.assert(
      fc.property(name, (one) => {
        fc.pre(
          !/^\.{1,2}$/.test(one) &&
            !/^[._](?:git|hg|svn|bzr|jj|darcs)[. ]*$/iu.test(one.normalize("NFKC")) &&
            !/^git~1/i.test(one) &&
            one.normalize("NFKC") === one &&
            Buffer.byteLength(one) <= 255 &&
            one !== ".nutignore" &&
            one !== "nutshell.json",
        );
        writeFileSync(join(path, one), "x");
        expect(listed(path)).toContain(one);
      }),
      { numRuns: 100 },
    );
  });
});
