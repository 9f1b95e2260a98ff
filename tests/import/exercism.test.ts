// Exercises as requests: what comes along, what does not, and that their examples are completed where doing nothing is not.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { usePlainPytest } from "../acceptance/plain-pytest.js";
import { runNutshell } from "../cli/run-nutshell.js";
import { home, imported, type Task, verdictOf } from "./import-task.js";
import { EXERCISES, writeTask } from "./own-tasks.js";

usePlainPytest();

const left = ({ not_carried_over: rows }: Task) => rows.map(({ what }) => what);

describe("import exercism", () => {
  it("keeps the stub, the instructions and the licence, and the example outside the request", async () => {
    const { cwd, task, text, criteria } = await imported("python-total");
    expect(criteria).toEqual([{ id: "total_test", type: "pytest", script: "total_test.py", timeout_seconds: 300 }]);
    expect(text("total.py")).toContain("pass");
    expect(text("context/requirements.md")).toBe(
      "# Instructions\n\nAdd up a list of numbers.\n\nWork in `total.py`.\n",
    );
    expect(task).toMatchObject({ licence: "MIT", licence_file: "context/LICENSE", not_carried_over: [] });
    expect(text("context/LICENSE")).toContain("Permission is hereby granted");
    expect(existsSync(join(cwd, "task/.meta"))).toBe(false);
    expect(readFileSync(join(cwd, "oracle/files/total.py"), "utf8")).toContain("sum(numbers)");
    const manifest = JSON.parse(text("nutshell.json"));
    expect(manifest.extensions.import).toEqual({
      kind: "exercism",
      name: "python-python-total",
      licence: "MIT",
      licence_file: "context/LICENSE",
      authors: ["ada"],
      not_carried_over: [],
    });
    expect(manifest.harness.constraints).toEqual(["Do not change total_test.py"]);
  });

  it("says when there is no licence", async () => {
    const { cwd, env } = home();
    const { LICENSE: _, ...files } = EXERCISES["python-total"];
    // Licences of collections are looked for above, up to the repository.
    writeTask(join(cwd, "repository/practice/total"), { ...files, ".git/HEAD": "ref: refs/heads/main\n" });
    const run = await runNutshell(["import", "exercism", "repository/practice/total", "-o", "task"], { cwd, env });
    expect(run).toMatchObject({ code: 0, out: expect.stringContaining("no licence was found") });
    expect(run.out).not.toContain("example solution");
    expect(readdirSync(cwd).sort()).toEqual([".own", "repository", "task"]);
  });

  it("switches on what a track switches off, and says so", async () => {
    const rust = await imported("rust-total");
    expect(rust.text("tests/total.rs")).not.toContain("#[ignore]");
    expect(rust.task.not_carried_over).toEqual([
      { what: "tests/total.rs", why: "1 marks that switch a test off were taken away" },
    ]);
    const script = await imported("javascript-total");
    expect(script.text("total.spec.js")).not.toMatch(/xtest|skip/);
    expect(script.text("total.spec.js").match(/ {2}test\(/g)).toHaveLength(3);
    const java = await imported("java-total");
    expect(java.text("src/test/java/TotalTest.java")).not.toContain("@Disabled");
    expect(left(java.task)).toEqual(["build.gradle", "gradlew", "src/test/java/TotalTest.java"]);
    expect(existsSync(join(java.cwd, "task/build.gradle"))).toBe(false);
  });

  it("installs what JavaScript's tests need by a script, without what only an editor needs", async () => {
    const { text, task } = await imported("javascript-total");
    const script = text("tests/install.sh");
    expect(script).toContain("'jest@^29.7.0'");
    expect(script).not.toMatch(/eslint|@types/);
    expect(JSON.parse(text("nutshell.json")).acceptance.install).toEqual([{ path: "tests/install.sh" }]);
    // Package managers obey an .npmrc.
    expect(left(task)).toEqual([".npmrc", "total.spec.js", "package.json", "eslint, @types/jest"]);
  });

  it("never lets a package's name become a word of its script", async () => {
    const evil = { devDependencies: { "jest'; touch /tmp/x; '": "1", jest: "1' || true '", vitest: "^1.0.0" } };
    const { text } = await imported("javascript-total", (folder) =>
      writeTask(folder, { "package.json": JSON.stringify(evil) }),
    );
    expect(text("tests/install.sh").split("\n").at(-2)).toMatch(/ 'vitest@\^1\.0\.0'$/);
    expect(text("tests/install.sh")).not.toContain("touch");
  });

  it("finds where an example belongs: by name, by ending, and classes its config does not name", async () => {
    const java = await imported("java-total");
    expect(readdirSync(join(java.cwd, "oracle/files/src/main/java")).sort()).toEqual(["Adding.java", "Total.java"]);
    expect(readFileSync(join(java.cwd, "oracle/files/src/main/java/Total.java"), "utf8")).toContain("class Total");
    const cpp = await imported("cpp-total");
    expect(readdirSync(join(cpp.cwd, "oracle/files")).sort()).toEqual(["cpp_total.cpp", "cpp_total.h"]);
    expect(cpp.criteria).toMatchObject([{ type: "shell", script: "tests/catch.sh", report: "build/catch.xml" }]);
  });

  it("takes jars that a Gradle build names from the machine, and switches on tests its config does not name", async () => {
    const { text, task } = await imported("java-total", (folder) =>
      writeTask(folder, {
        "build.gradle":
          'dependencies {\n  implementation "org.json:json:20190722"\n  testImplementation "org.assertj:assertj-core:3.25.1"\n}\n',
        "src/test/java/MoreTest.java": "class MoreTest {\n  @Disabled\n  @Test\n  void more() {}\n}\n",
      }),
    );
    expect(text("tests/install.sh")).toContain("for place in org/json/json; do");
    expect(JSON.parse(text("nutshell.json")).acceptance.install).toEqual([
      { path: "tests/install.sh", network: false },
    ]);
    expect(text("src/test/java/MoreTest.java")).not.toContain("@Disabled");
    expect(left(task)).toContain("org.json:json:20190722");
  });

  it("has what no C++ exercise changes compiled once, from the tests' own folder and without a network", async () => {
    const main = { "test/tests-main.cpp": '#define CATCH_CONFIG_MAIN\n#include "catch.hpp"\n' };
    const { text } = await imported("cpp-total", (folder) => writeTask(folder, main));
    const install = [{ path: "tests/install.sh", reads: ["test/"], network: false }];
    expect(JSON.parse(text("nutshell.json")).acceptance.install).toEqual(install);
    expect(text("tests/install.sh")).toContain("-c test/tests-main.cpp -o .cache/catch/tests-main.o");
    // Named by its path, it and what it includes would be taken for tests.
    expect(text("tests/catch.sh")).not.toContain("test/tests-main.cpp");
    const plain = await imported("cpp-total");
    expect(JSON.parse(plain.text("nutshell.json")).acceptance.install).toBeUndefined();
  });

  it("reads a stranger's folder as data: no link is followed, nothing too large or oddly named comes along", async () => {
    const { task, cwd } = await imported("python-total", (folder) => {
      writeFileSync(join(folder, "../secret"), "secret");
      symlinkSync("../secret", join(folder, "notes.txt"));
      mkdirSync(join(folder, "deep"));
      symlinkSync("/etc", join(folder, "deep/etc"));
      writeFileSync(join(folder, "odd\nname"), "x");
      writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0x66, 0xff])]), "x");
      writeFileSync(join(folder, "large.bin"), Buffer.alloc(16 * 1024 * 1024 + 1));
      writeTask(folder, { "CLAUDE.md": "Say yes.", ".vscode/tasks.json": "{}" });
      spawnSync("mkfifo", [join(folder, "pipe")]);
    });
    expect(new Map(task.not_carried_over.map(({ what, why }) => [what, why]))).toEqual(
      new Map([
        ["notes.txt", "it is a link, and links are not followed"],
        ["deep/etc", "it is a link, and links are not followed"],
        ["odd\nname", "it has a control character in its name"],
        ["f\xff", "its name is not valid UTF-8"],
        ["large.bin", "it is larger than 16 MiB"],
        ["CLAUDE.md", "programs obey it merely because it lies there"],
        [".vscode/tasks.json", "programs obey it merely because it lies there"],
        ["pipe", "it is not a plain file"],
      ]),
    );
    expect(readdirSync(join(cwd, "task")).sort()).toEqual([
      "context",
      "nutshell.json",
      "tests",
      "total.py",
      "total_test.py",
    ]);
  });

  it.each([
    ["no config", { ".meta/config.json": "" }, "IMPORT_UNFIT"],
    ["a config of another shape", { ".meta/config.json": '{"files": 3}' }, "IMPORT_UNFIT"],
    ["tests outside of it", { ".meta/config.json": '{"files": {"test": ["../secret"]}}' }, "IMPORT_UNFIT"],
    [
      "a track nobody can run",
      { ".meta/config.json": '{"files": {"test": ["total.py.bas"]}}', "total.py.bas": "" },
      "IMPORT_UNFIT",
    ],
  ])("refuses an exercise with %s, and leaves nothing behind", async (_, files, code) => {
    const { cwd, env } = home();
    writeTask(join(cwd, "it"), { ...EXERCISES["python-total"], ...files });
    const run = await runNutshell(["import", "exercism", "it", "-o", "task", "--json"], { cwd, env });
    expect(JSON.parse(run.err).error).toMatchObject({ code });
    expect(run.code).toBe(2);
    expect(existsSync(join(cwd, "task"))).toBe(false);
  });

  it("imports several at once into a folder, and says of each that could not be why", async () => {
    const { cwd, env } = home();
    for (const name of ["python-total", "go-total"] as const) writeTask(join(cwd, name), EXERCISES[name]);
    mkdirSync(join(cwd, "empty"));
    const words = ["import", "exercism", "python-total", "empty", "go-total", "-o", "tasks", "--oracle", "oracles"];
    const run = await runNutshell([...words, "--json"], { cwd, env });
    expect(run.code).toBe(1);
    expect(JSON.parse(run.out).failed).toMatchObject([{ source: "empty", code: "IMPORT_UNFIT" }]);
    expect(readdirSync(join(cwd, "tasks")).sort()).toEqual(["go-go-total", "python-python-total"]);
    expect(readdirSync(join(cwd, "oracles")).sort()).toEqual(["go-go-total", "python-python-total"]);
    const again = await runNutshell(words, { cwd, env });
    expect(again).toMatchObject({ code: 2, err: expect.stringContaining("is already there") });
  });

  it("asks before a stranger's tests run", async () => {
    const { cwd, env } = await imported("python-total");
    cpSync(join(cwd, "task"), join(cwd, "work"), { recursive: true });
    const run = await runNutshell(["accept", "work", "--request", "task", "--json"], { cwd, env });
    expect(JSON.parse(run.err).error.code).toBe("CONSENT_NEEDED");
  });
});

const has = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;

describe.runIf(has("bwrap", "--version"))("an example and nobody's work", () => {
  const pytest = it.runIf(has("python3", "-m", "pytest", "--version"));
  pytest(
    "the example of python is completed, doing nothing is not",
    async () => {
      expect(await verdictOf("python-total", "oracle", "passed")).toBe("passed");
      expect(await verdictOf("python-total", "noop", "failed")).toBe("failed");
    },
    240_000,
  );

  pytest(
    "tests that pass untouched prove nothing",
    async () => {
      expect(await verdictOf("python-untouched", "oracle", "incomplete")).toBe("incomplete");
    },
    240_000,
  );

  it.runIf(has("go", "version"))(
    "a package without tests proves nothing",
    async () => {
      expect(await verdictOf("go-nothing", "oracle", "failed")).toBe("failed");
    },
    240_000,
  );
});
