// What checks need installed: made once, in a sandbox, kept where nobody who works can write, and seen read-only.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bwrapAvailable } from "../../src/process/index.js";
import { type RunOptions, runNutshell } from "../cli/run-nutshell.js";
import { put } from "./room.js";

const held = await bwrapAvailable(process.env);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nut-install-"));
  mkdirSync(join(folder, "tmp"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const ADDER = "module.exports = (a, b) => a + b;\n";
const SUM = 'const add = require("adder");\nmodule.exports = (list) => list.reduce((a, b) => add(a, b), 0);\n';
const SCRIPT = `mkdir -p node_modules/adder && printf '${ADDER.trim()}' > node_modules/adder/index.js\n`;

/** A request whose work needs a package, and the same with the work done. */
function project(install: readonly unknown[], files: Readonly<Record<string, string>> = {}, more: object = {}): void {
  put(join(folder, "request"), {
    "nutshell.json": JSON.stringify({
      nutshell_version: "0.2.0",
      bundle_type: "request",
      id: "nut-11111111-1111-4111-8111-111111111111",
      created_at: "2026-03-14T10:00:00Z",
      task: { title: "Sum", summary: "add numbers up" },
      context: { requirements: "context/requirements.md" },
      acceptance: { criteria_file: "tests/criteria.json", install },
      ...more,
    }),
    "context/requirements.md": "sum.cjs adds up\n",
    "tests/criteria.json": JSON.stringify({ criteria: [{ id: "AC-1", type: "shell", script: "tests/sum.sh" }] }),
    "tests/sum.sh": "node tests/sum.mjs\n",
    "tests/sum.mjs":
      'import assert from "node:assert";\nimport sum from "../files/sum.cjs";\nassert.strictEqual(sum([1, 2, 3]), 6);\nassert.strictEqual(sum([4, 5]), 9);\n',
    "tests/install.sh": SCRIPT,
    "files/sum.cjs": "module.exports = () => 0;\n",
    ...files,
  });
  put(join(folder, "work"), { "files/sum.cjs": SUM });
  execFileSync("cp", ["-rn", `${join(folder, "request")}/.`, join(folder, "work")]);
}

const nutshell = async (argv: readonly string[], options: Partial<RunOptions> = {}) => {
  const env = { HOME: join(folder, "home"), TMPDIR: join(folder, "tmp"), ...options.env };
  const run = await runNutshell(argv, { cwd: folder, ...options, env });
  expect(readdirSync(join(folder, "tmp"))).toEqual([]);
  return run;
};
const accept = (...more: string[]) => nutshell(["accept", "work", "-r", "request", "--trials", "1", ...more]);
const cache = () => join(folder, "home/.cache/nutshell/install");
const entries = () =>
  existsSync(cache()) ? readdirSync(cache()).filter((name) => !name.endsWith(".lock") && !name.endsWith(".claim")) : [];

const OFFLINE = [{ path: "tests/install.sh", network: false }];

describe.runIf(held)("what checks need installed", () => {
  it("is installed from npm's lock file once, when the person allows it, and found without a network afterwards", async () => {
    project(["files/package-lock.json"], {
      "files/package.json": JSON.stringify({
        name: "app",
        scripts: { postinstall: "exit 3" },
        dependencies: { adder: "file:vendor/adder-1.0.0.tgz" },
      }),
      "files/package-lock.json": JSON.stringify({
        name: "app",
        lockfileVersion: 3,
        packages: {
          "": { name: "app", dependencies: { adder: "file:vendor/adder-1.0.0.tgz" } },
          "node_modules/adder": { version: "1.0.0", resolved: "file:vendor/adder-1.0.0.tgz" },
        },
      }),
    });
    put(join(folder, "pack/package"), {
      "package.json": JSON.stringify({ name: "adder", version: "1.0.0" }),
      "index.js": ADDER,
    });
    for (const name of ["request", "work"]) {
      mkdirSync(join(folder, name, "files/vendor"), { recursive: true });
      const tarball = join(folder, name, "files/vendor/adder-1.0.0.tgz");
      execFileSync("tar", ["-czf", tarball, "--mtime=2026-01-01", "-C", join(folder, "pack"), "package"]);
    }
    const refused = await accept("--yes");
    expect(refused).toMatchObject({ code: 2, out: "" });
    expect(refused.err).toContain("files/package-lock.json is not installed here yet");
    expect(refused.err).toContain("--allow-install");
    expect(entries()).toEqual([]);
    const first = await accept("--allow-install");
    expect(first, first.err).toMatchObject({ code: 0 });
    expect(first.out).toContain("1 proven by the work");
    expect(entries()).toHaveLength(1);
    const again = await accept();
    expect(again, again.err).toMatchObject({ code: 0 });
    expect(again.err).not.toContain("installing");
  });

  it("is a virtual environment from a list of pip's, with its programs first", async () => {
    project([{ path: "requirements.txt", network: false }], {
      "requirements.txt": "--no-index\n--find-links vendor  # wheels\nadder==1.0\n",
      "vendor/adder-1.0-py3-none-any.whl": "",
      "tests/sum.sh": 'test "$(add12)" = 3 && python3 tests/sum.py\n',
      "tests/sum.py":
        'import sys\nsys.path.insert(0, "files")\nfrom total import total\nassert total([1, 2, 3]) == 6\nassert total([4, 5]) == 9\n',
      "files/total.py": "def total(numbers):\n    return 0\n",
    });
    put(join(folder, "work"), {
      "files/total.py":
        "from adder import add\n\ndef total(numbers):\n    all = 0\n    for one in numbers:\n        all = add(all, one)\n    return all\n",
    });
    execFileSync("python3", [
      "-c",
      WHEEL,
      ...["request", "work"].map((name) => join(folder, name, "vendor/adder-1.0-py3-none-any.whl")),
    ]);
    const { code, out, err } = await accept();
    expect({ code, out, err }).toMatchObject({ code: 0 });
    expect(out).toContain("1 proven by the work");
  });

  it("is read-only in every room, whatever the work tries, and no check is told of another's tries", async () => {
    project(OFFLINE, { "tests/install.sh": `${SCRIPT}mkdir .cache && echo kept > .cache/word\n` });
    const spoil = [
      'const fs = require("fs");',
      'const tries = [() => fs.writeFileSync("node_modules/adder/index.js", "module.exports = () => 6;"), () => fs.rmSync("node_modules", { recursive: true }),',
      '  () => fs.renameSync("node_modules", "other"), () => fs.mkdirSync("node_modules/evil"), () => fs.writeFileSync(".cache/word", "x")];',
      'for (const one of tries) { let done = true; try { one(); } catch { done = false; } if (done) throw new Error("it can be written"); }',
    ].join("\n");
    put(join(folder, "work"), { "files/sum.cjs": `${spoil}\n${SUM}` });
    const { code, out, err } = await accept();
    expect({ code, out, err }).toMatchObject({ code: 0 });
  });

  it.each<[string, string, RegExp]>([
    [
      "fails",
      "echo no such package >&2; exit 7\n",
      /tests\/install\.sh could not be installed: exit 7: no such package/,
    ],
    [
      "leaves a link that leads out",
      `${SCRIPT}ln -s /etc/passwd node_modules/adder/list\n`,
      /link that leads out: node_modules\/adder\/list → \/etc\/passwd/,
    ],
    [
      "leaves a link that climbs out",
      `${SCRIPT}ln -s ../../../../x node_modules/up\n`,
      /link that leads out: node_modules\/up/,
    ],
    ["leaves a pipe", `${SCRIPT}mkfifo node_modules/pipe\n`, /no file: node_modules\/pipe/],
    ["leaves nothing", "mkdir out\n", /left nothing in a folder called node_modules/],
  ])("refuses an installation that %s, and keeps nothing of it", async (_, script, why) => {
    project(OFFLINE, { "tests/install.sh": script });
    const { code, err } = await accept();
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringMatching(why) });
    expect(entries()).toEqual([]);
  });

  it("refuses an installation that wants a network it said it does not need", async () => {
    const server = createServer((socket) => socket.end());
    await once(server.listen(0, "127.0.0.1"), "listening");
    try {
      const { port } = server.address() as AddressInfo;
      // It would be answered: only a room without this machine's network keeps it from that.
      const asks = `require("net").connect(${port}, "127.0.0.1").on("error", () => process.exit(9)).resume()`;
      project(OFFLINE, { "tests/install.sh": `node -e '${asks}'\n${SCRIPT}` });
      expect(await accept()).toMatchObject({ code: 2, err: expect.stringMatching(/exit 9/) });
      expect(entries()).toEqual([]);
    } finally {
      server.close();
    }
  });

  it("leaves nothing of an installation that was interrupted", async () => {
    project(OFFLINE, { "tests/install.sh": "sleep 600\n" });
    const stop = new AbortController();
    const ended = nutshell(["accept", "work", "-r", "request"], { signal: stop.signal });
    while (entries().length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    stop.abort();
    expect((await ended).code).not.toBe(0);
    expect(entries()).toEqual([]);
  });

  it("belongs to what it is made of, and to whoever asks", async () => {
    project([{ path: "tests/install.sh", reads: ["files/packages.txt"], network: false }], {
      "files/packages.txt": "adder\n",
    });
    await accept();
    put(join(folder, "work"), { "files/packages.txt": "adder, another\n", "tests/install.sh": "exit 1\n" });
    expect((await accept()).code).toBe(0);
    expect(entries()).toHaveLength(2);
    project(
      [{ path: "tests/install.sh", reads: ["files/packages.txt"], network: false }],
      {},
      { publisher: { name: "Eve" } },
    );
    expect((await accept()).code).toBe(0);
    expect(entries()).toHaveLength(4);
  });

  it("says of the work alone what the work's own packages lack", async () => {
    project([{ path: "tests/install.sh", reads: ["files/packages.txt"] }], {
      "files/packages.txt": "adder\n",
      "tests/install.sh": `grep -q broken files/packages.txt && { echo cannot; exit 4; }\n${SCRIPT}`,
    });
    expect((await accept("--allow-install")).code).toBe(0);
    put(join(folder, "work"), { "files/packages.txt": "more\n" });
    const skipped = await accept();
    expect(skipped.code).toBe(1);
    expect(skipped.out).toContain("the work needs other packages than the request");
    put(join(folder, "work"), { "files/packages.txt": "broken\n" });
    const failed = await accept("--allow-install");
    expect(failed.code).toBe(1);
    expect(failed.out).toMatch(/✗ AC-1 \(what the work needs could not be installed: .*cannot/);
  });

  it("refuses programs of the work's own packages that hide the system's", async () => {
    const install =
      'mkdir -p .venv/bin && for name in $(cat files/programs.txt); do printf "#!/bin/sh\\n" > .venv/bin/$name; chmod +x .venv/bin/$name; done\n';
    project([{ path: "tests/install.sh", reads: ["files/programs.txt"], network: false }], {
      "files/programs.txt": "mine\n",
      "tests/install.sh": install,
      "tests/sum.sh": "grep -q sum files/sum.cjs\n",
    });
    put(join(folder, "work"), { "files/programs.txt": "mine grep\n" });
    const { code, out } = await accept();
    expect({ code, out }).toMatchObject({ code: 1, out: expect.stringContaining("hide the system's: grep") });
  });

  it("is asked about once, and a stranger's question speaks of it", async () => {
    project(["tests/install.sh"]);
    const asked: string[] = [];
    const ask = (yes: boolean) => ({
      terminal: true,
      ask: {
        confirm: async (question: string) => {
          asked.push(question);
          return yes;
        },
        text: async () => "",
        secret: async () => "",
        choose: async () => "",
      } as never,
    });
    const argv = ["accept", "work", "-r", "request.nut", "--trials", "1"];
    expect((await nutshell(["pack", "--dir", "request", "-o", "request.nut"])).code).toBe(0);
    rmSync(join(folder, "home"), { recursive: true });
    expect((await nutshell(argv, ask(false))).code).toBe(2);
    expect(asked).toEqual([
      expect.stringContaining(
        "installs: tests/install.sh by running it, with your network (any address, this machine's own too)",
      ),
    ]);
    expect((await nutshell(argv, ask(true))).code).toBe(0);
    expect(asked).toHaveLength(2);
    rmSync(cache(), { recursive: true });
    expect((await nutshell(argv, ask(true))).code).toBe(0);
    expect(asked[2]).toContain("Install it?");
  });

  it("says which program is missing, and which lock file", async () => {
    project(["uv.lock"], { "uv.lock": "version = 1\n" });
    const bare = await nutshell(["accept", "work", "-r", "request"], { env: { PATH: join(folder, "nowhere") } });
    expect(bare).toMatchObject({
      code: 2,
      err: expect.stringContaining("uv.lock is installed with uv, which is not on PATH"),
    });
    project(["package-lock.json"]);
    const lost = await accept();
    expect(lost).toMatchObject({
      code: 2,
      err: expect.stringContaining("package-lock.json: acceptance.install names it, but it is not there"),
    });
    expect(lost.err).toContain("--repo '<dir>'");
  });

  it("is kept nowhere that others can write", async () => {
    project(OFFLINE);
    mkdirSync(cache(), { recursive: true });
    chmodSync(cache(), 0o777);
    expect(await accept()).toMatchObject({ code: 2, err: expect.stringContaining("can be written by others") });
  });

  it("is made by one of two processes that come at once", async () => {
    project(OFFLINE, { "tests/install.sh": `sleep 1\n${SCRIPT}` });
    const bin = join(import.meta.dirname, "../../bin/nutshell.js");
    const env = { PATH: process.env.PATH, HOME: join(folder, "home"), TMPDIR: join(folder, "tmp") };
    const { spawn } = await import("node:child_process");
    const one = () =>
      new Promise<number | null>((done) => {
        const child = spawn(process.execPath, [bin, "accept", "work", "-r", "request", "--trials", "1"], {
          cwd: folder,
          env,
          stdio: "ignore",
        });
        child.once("exit", done);
      });
    expect(await Promise.all([one(), one()])).toEqual([0, 0]);
    expect(entries()).toHaveLength(1);
  }, 60_000);
});

/** A wheel is a zip of a module and what describes it. */
const WHEEL = `
import sys, zipfile
for path in sys.argv[1:]:
    with zipfile.ZipFile(path, "w") as z:
        def add(name, text): z.writestr(zipfile.ZipInfo(name), text)
        add("adder.py", "def add(a, b):\\n    return a + b\\n\\ndef main():\\n    print(add(1, 2))\\n")
        add("adder-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: adder\\nVersion: 1.0\\n")
        add("adder-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        add("adder-1.0.dist-info/entry_points.txt", "[console_scripts]\\nadd12 = adder:main\\n")
        add("adder-1.0.dist-info/RECORD", "adder.py,,\\n")
`;
