// Tasks of other shapes: an issue, specifications, rows of SWE-bench, tasks for a terminal.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { usePlainPytest } from "../acceptance/plain-pytest.js";
import { runNutshell } from "../cli/run-nutshell.js";
import { home, type Task } from "./import-task.js";
import { writeTask } from "./own-tasks.js";

usePlainPytest();

async function importing(kind: string, source: string, where: ReturnType<typeof home>, more: readonly string[] = []) {
  const words = ["import", kind, source, "-o", "task", "--oracle", "oracle", "--json", ...more];
  const run = await runNutshell(words, where);
  const text = (path: string) => readFileSync(join(where.cwd, "task", path), "utf8");
  const manifest = () => JSON.parse(text("nutshell.json"));
  const task = () => (JSON.parse(run.out) as { tasks: Task[] }).tasks[0]!;
  const error = () => JSON.parse(run.err).error as { code: string; message: string };
  return { ...run, text, manifest, task, error };
}

describe("import github-issue", () => {
  const ISSUE = {
    number: 7,
    title: "Totals are wrong",
    body: "The sum of an empty list is `undefined`.\n\n- [ ] total([]) is 0\n- [ ] total([2, 3]) is 5\n",
    labels: [{ name: "bug" }],
    url: "https://example.org/shop/issues/7",
    author: { login: "ada" },
    comments: [{ author: { login: "bob" }, body: "It was right in 1.0." }],
    milestone: { title: "2.0" },
  };

  it("keeps title, text, points, labels and what was said", async () => {
    const where = home();
    writeTask(where.cwd, { "issue.json": JSON.stringify(ISSUE) });
    const { code, text, manifest, task } = await importing("github-issue", "issue.json", where);
    expect(code).toBe(0);
    expect(manifest()).toMatchObject({
      task: { title: "Totals are wrong", summary: "The sum of an empty list is `undefined`." },
      tags: { domains: ["bug"] },
      acceptance: { checklist: ["total([]) is 0", "total([2, 3]) is 5"] },
      context: { requirements: "context/requirements.md", additional: ["context/discussion.md"] },
      extensions: { import: { kind: "github-issue", name: "totals-are-wrong-7", authors: ["ada"], url: ISSUE.url } },
    });
    expect(text("context/discussion.md")).toBe("## bob\n\nIt was right in 1.0.\n");
    expect(task().not_carried_over.map(({ what }) => what)).toEqual(["milestone"]);
    expect(existsSync(join(where.cwd, "oracle"))).toBe(false);
  });

  it.each([
    ["no title", '{"body": "x"}', "ISSUE_INVALID"],
    ["no JSON", "{", "ISSUE_INVALID"],
  ])("refuses one with %s", async (_, text, code) => {
    const where = home();
    writeTask(where.cwd, { "issue.json": text });
    const refused = await importing("github-issue", "issue.json", where);
    expect([refused.code, refused.error().code]).toEqual([2, code]);
    expect(existsSync(join(where.cwd, "task"))).toBe(false);
  });

  it("refuses a file that is no text, and a folder", async () => {
    const where = home();
    writeFileSync(join(where.cwd, "issue.json"), Buffer.from([0x7b, 0xff, 0x7d]));
    expect((await importing("github-issue", "issue.json", where)).error()).toMatchObject({ code: "IMPORT_UNFIT" });
    expect((await importing("github-issue", ".", where)).error()).toMatchObject({ code: "IMPORT_UNFIT" });
    expect((await importing("github-issue", "none.json", where)).error()).toMatchObject({ code: "FILE_NOT_FOUND" });
  });
});

describe("import of specifications", () => {
  it("makes points of a feature of Spec Kit, and lists its open questions", async () => {
    const where = home();
    writeTask(join(where.cwd, "001-totals"), {
      "spec.md":
        '# Feature Specification: Totals\n\n**Input**: User description: "Add up prices"\n\n## Scenarios\n\n1. **Given** two prices, **When** they are added, **Then** the total is shown\n\n## Requirements\n\n- **FR-001**: The system MUST add up prices.\n- **FR-002**: Currencies [NEEDS CLARIFICATION: which ones?]\n',
      "plan.md": "# Plan\n",
      "contracts/total.yaml": "openapi: 3.1.0\n",
      "run.sh": "rm -rf /\n",
    });
    const { code, manifest, task } = await importing("spec-kit", "001-totals", where);
    expect(code).toBe(0);
    expect(manifest()).toMatchObject({
      task: { title: "Totals", summary: "Add up prices" },
      acceptance: {
        checklist: [
          "FR-001: The system MUST add up prices.",
          "FR-002: Currencies [NEEDS CLARIFICATION: which ones?]",
          "Given two prices, When they are added, Then the total is shown",
        ],
      },
      context: { additional: ["context/plan.md"] },
    });
    expect(task().not_carried_over).toEqual([
      { what: "run.sh", why: "it is no document" },
      { what: "open question: which ones?", why: "the specification leaves it to its author" },
    ]);
    expect(readdirSync(join(where.cwd, "task/context")).sort()).toEqual(["contracts", "plan.md", "requirements.md"]);
  });

  it("makes points of a change of OpenSpec", async () => {
    const where = home();
    writeTask(join(where.cwd, "add-totals"), {
      "proposal.md": "## Why\n\nNobody adds prices up.\n\n## What Changes\n\n- A total\n",
      "tasks.md": "- [x] 1.1 Look around\n- [ ] 1.2 Write it\n",
      "specs/cart/spec.md":
        "## ADDED Requirements\n\n### Requirement: Total\nThe cart SHALL show its total.\n\n#### Scenario: Two prices\n- **WHEN** two are in it\n\n## REMOVED Requirements\n\n### Requirement: Subtotal\n",
    });
    const { manifest, task } = await importing("openspec", "add-totals", where);
    expect(manifest()).toMatchObject({
      task: { title: "Add totals", summary: "Nobody adds prices up." },
      acceptance: { checklist: ["Total: The cart SHALL show its total. (Two prices)", "Subtotal is gone"] },
    });
    expect(task().not_carried_over).toEqual([{ what: "1 finished points of tasks.md", why: "they are done already" }]);
  });

  it.each(["spec-kit", "openspec", "harbor", "terminal-bench"])("refuses a folder that is no %s", async (kind) => {
    const where = home();
    writeTask(join(where.cwd, "folder"), { "README.md": "# Nothing\n" });
    expect((await importing(kind, "folder", where)).error()).toMatchObject({ code: "IMPORT_UNFIT" });
  });
});

describe("import swebench", () => {
  function repository(cwd: string): string {
    const clone = writeTask(join(cwd, "shop"), {
      "total.py": "def total(numbers):\n    return None\n",
      "test_total.py": "from total import total\n\n\ndef test_kind():\n    assert callable(total)\n",
      LICENSE:
        'Permission is hereby granted, free of charge, to any person obtaining a copy\nTHE SOFTWARE IS PROVIDED "AS IS"\n',
    });
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], {
        cwd: clone,
        encoding: "utf8",
      });
    git("init", "-q");
    git("add", ".");
    git("commit", "-qm", "start");
    return git("rev-parse", "HEAD").trim();
  }
  const TESTS = `--- a/test_total.py
+++ b/test_total.py
@@ -3,3 +3,7 @@
 
 def test_kind():
     assert callable(total)
+
+
+def test_sum():
+    assert total([2, 3]) == 5
`;
  const row = (commit: string) => ({
    instance_id: "shop__shop-1",
    repo: "shop/shop",
    base_commit: commit,
    problem_statement: "total() gives back None\n\nIt should add up.",
    patch:
      "--- a/total.py\n+++ b/total.py\n@@ -1,2 +1,2 @@\n def total(numbers):\n-    return None\n+    return sum(numbers)\n",
    test_patch: TESTS,
    FAIL_TO_PASS: '["test_total.py::test_sum"]',
    PASS_TO_PASS: '["test_total.py::test_kind", "test_old (app.Tests)"]',
  });

  it("takes the repository at the row's commit with the row's tests, and leaves the clone alone", async () => {
    const where = home();
    const commit = repository(where.cwd);
    writeTask(where.cwd, { "rows.jsonl": `${JSON.stringify(row(commit))}\n`, "shop/total.py": "changed since\n" });
    const { code, err, text, manifest, task } = await importing("swebench", "rows.jsonl", where, ["--repo", "shop"]);
    expect([code, err]).toEqual([0, ""]);
    expect(text("total.py")).toContain("return None");
    expect(text("test_total.py")).toContain("def test_sum");
    expect(JSON.parse(text("tests/criteria.json")).criteria).toMatchObject([
      { id: "fail-to-pass", command: "python3 -m pytest -q test_total.py::test_sum" },
      { id: "pass-to-pass", command: "python3 -m pytest -q test_total.py::test_kind" },
    ]);
    expect(manifest().extensions.import).toMatchObject({ base: { repository: "shop/shop", commit }, licence: "MIT" });
    expect(task().not_carried_over).toEqual([
      {
        what: "1 names of PASS_TO_PASS, such as test_old (app.Tests)",
        why: "they are no names that pytest knows by file",
      },
    ]);
    expect(execFileSync("git", ["status", "--short"], { cwd: join(where.cwd, "shop"), encoding: "utf8" })).toBe(
      " M total.py\n",
    );
    execFileSync("sh", [join(where.cwd, "oracle/solve.sh")], { cwd: join(where.cwd, "task") });
    expect(text("total.py")).toContain("return sum(numbers)");
  });

  it("refuses a row without its repository, of another commit, or whose tests do not fit", async () => {
    const where = home();
    const commit = repository(where.cwd);
    const told = async (value: unknown, more: readonly string[] = ["--repo", "shop"]) => {
      writeTask(where.cwd, { "rows.json": JSON.stringify(value) });
      return (await importing("swebench", "rows.json", where, more)).error().code;
    };
    expect(await told([row(commit)], [])).toBe("USAGE");
    expect(await told([row("0".repeat(40))])).toBe("BASE_UNKNOWN");
    expect(await told([{ ...row(commit), test_patch: TESTS.replace("callable", "elsewhere") }])).toBe("IMPORT_UNFIT");
    expect(await told([{ ...row(commit), test_patch: TESTS.replaceAll("test_total.py", "../out.py") }])).toBe(
      "IMPORT_UNFIT",
    );
    expect(await told([{ ...row(commit), base_commit: "--upload-pack=x" }])).toBe("IMPORT_UNFIT");
    expect(await told([row(commit)], ["--repo", "shop", "--only", "other"])).toBe("IMPORT_UNFIT");
    expect(existsSync(join(where.cwd, "task"))).toBe(false);
    expect(existsSync(join(where.cwd, "../out.py"))).toBe(false);
  });
});

const TERMINAL = {
  "task.yaml":
    "instruction: |-\n  Write the total of /app/data.txt to /app/total.txt.\nauthor_name: Ada\ntags: [files]\nparser_name: pytest\nmax_agent_timeout_sec: 60.0\nmax_test_timeout_sec: 90.0\n",
  Dockerfile:
    "FROM ghcr.io/laude-institute/t-bench/python-3-13:20250620\nENV LANG=C\nRUN apt-get update && \\\n    apt-get install -y gawk\nCOPY data.txt .\nCOPY data.txt /srv/data.txt\n",
  "docker-compose.yaml": "services: {}\n",
  "data.txt": "2\n3\n",
  "solution.sh": "#!/bin/bash\nawk '{ sum += $1 } END { print sum }' /app/data.txt > total.txt\n",
  "run-tests.sh": "#!/bin/bash\npytest $TEST_DIR/test_outputs.py\n",
  "tests/test_outputs.py":
    'from pathlib import Path\n\n\ndef test_total():\n    assert Path("/app/total.txt").read_text().strip() == "5"\n\n\ndef test_places():\n    assert Path("/tests/test_outputs.py").exists()\n    assert Path("/logs").is_dir()\n',
};

describe("import of tasks for a terminal", () => {
  it("carries what lies in the working folder, and lists everything else", async () => {
    const where = home();
    writeTask(join(where.cwd, "add-up"), TERMINAL);
    const { code, text, manifest, task } = await importing("terminal-bench", "add-up", where);
    expect(code).toBe(0);
    expect(text("data.txt")).toBe("2\n3\n");
    expect(manifest().acceptance.places).toEqual({ "/app": ".", "/tests": "tests", "/logs": null });
    expect(JSON.parse(text("tests/criteria.json")).criteria).toEqual([
      { id: "tests", type: "pytest", script: "tests/test_outputs.py", timeout_seconds: 90 },
    ]);
    expect(task().not_carried_over.map(({ what }) => what)).toEqual([
      "COPY data.txt /srv/data.txt",
      "FROM ghcr.io/laude-institute/t-bench/python-3-13:20250620",
      "RUN apt-get update &&      apt-get install -y gawk",
      "ENV LANG=C",
      "run-tests.sh",
      "docker-compose.yaml",
      "60 s for the agent",
    ]);
    expect(readFileSync(join(where.cwd, "oracle/solve.sh"), "utf8")).toBe(TERMINAL["solution.sh"]);
    expect(existsSync(join(where.cwd, "task/solution.sh"))).toBe(false);
  });

  it("reads Harbor's task.toml, environment/ and solution/", async () => {
    const where = home();
    const {
      "task.yaml": _,
      "solution.sh": solution,
      "run-tests.sh": __,
      "data.txt": data,
      Dockerfile,
      ...rest
    } = TERMINAL;
    writeTask(join(where.cwd, "add-up"), {
      "task.toml":
        'version = "1.1"\n[metadata]\nauthor_name = "Ada"\ntags = ["files"]\n[verifier]\ntimeout_sec = 90.0\n[environment]\ncpus = 1\n',
      "instruction.md": "Write the total of /app/data.txt to /app/total.txt.\n",
      "environment/Dockerfile": Dockerfile,
      "environment/data.txt": data,
      "solution/solve.sh": solution,
      "tests/test.sh": "#!/bin/bash\n",
      "tests/test_outputs.py": rest["tests/test_outputs.py"],
    });
    const { text, task, manifest } = await importing("harbor", "add-up", where);
    expect(text("data.txt")).toBe("2\n3\n");
    expect(manifest().extensions.import).toMatchObject({ kind: "harbor", authors: ["Ada"] });
    expect(task().not_carried_over.map(({ what }) => what)).toContain("environment.cpus = 1");
    expect(readFileSync(join(where.cwd, "oracle/solve.sh"), "utf8")).toBe(solution);
  });

  it("takes no file from outside of the task, and puts none outside of the tree", async () => {
    const where = home();
    writeFileSync(join(where.cwd, "secret"), "secret");
    writeTask(join(where.cwd, "add-up"), {
      ...TERMINAL,
      Dockerfile:
        "FROM ubuntu:24.04\nWORKDIR /app\nCOPY ../secret .\nCOPY data.txt ../../etc/x\nCOPY data.txt nutshell.json\nCOPY . .\n",
      ".mcp.json": "{}",
    });
    const { task } = await importing("terminal-bench", "add-up", where);
    expect(task().not_carried_over.slice(0, 4)).toEqual([
      { what: "COPY ../secret", why: "there is no such file" },
      { what: "COPY data.txt /etc/x", why: "it lies outside /app" },
      { what: "nutshell.json", why: "the request keeps its own there" },
      { what: ".mcp.json", why: "programs obey it merely because it lies there" },
    ]);
    expect(readdirSync(join(where.cwd, "task")).sort()).toEqual(["context", "data.txt", "nutshell.json", "tests"]);
  });

  it("follows an image's steps that only make, write and remove files, and lists those that do more", async () => {
    const where = home();
    writeTask(join(where.cwd, "add-up"), {
      ...TERMINAL,
      "docker-compose.yaml": "services:\n  client:\n    build:\n      context: client\n",
      "client/Dockerfile": [
        "FROM ubuntu:24.04",
        "WORKDIR /app",
        "COPY make.sh old.txt ./",
        "RUN mkdir -p out logs /srv/x && chmod +x make.sh",
        "RUN rm -f old.txt",
        "COPY <<END logs/a.log",
        "# no comment",
        "RUN is no step here",
        "END",
        "COPY <<END b.log",
        "$HOME",
        "END",
        "RUN rm -rf out && ./make.sh",
        "RUN rm -f $(ls)",
        "RUN rm -rf /app && rm -rf ..",
        "",
      ].join("\n"),
      "client/make.sh": "#!/bin/sh\n",
      "client/old.txt": "old",
    });
    const { text, task } = await importing("terminal-bench", "add-up", where);
    const made = readdirSync(join(where.cwd, "task"), { recursive: true, encoding: "utf8" });
    expect(made.filter((path) => !/^(?:context|tests)/.test(path)).sort()).toEqual([
      "logs",
      "logs/a.log",
      "make.sh",
      "nutshell.json",
      "out",
      "out/.gitkeep",
    ]);
    expect(text("logs/a.log")).toBe("# no comment\nRUN is no step here\n");
    expect(statSync(join(where.cwd, "task/make.sh")).mode & 0o100).toBe(0o100);
    const left = task().not_carried_over.map(({ what }) => what);
    expect(left).toEqual(
      expect.arrayContaining([
        "out/",
        "COPY <<END b.log",
        "RUN rm -rf out && ./make.sh",
        "RUN rm -f $(ls)",
        "RUN rm /app",
        "RUN rm /",
      ]),
    );
  });

  it("refuses an image that works where no room can put a tree", async () => {
    const where = home();
    writeTask(join(where.cwd, "add-up"), { ...TERMINAL, Dockerfile: "FROM ubuntu:24.04\nWORKDIR /etc\n" });
    expect((await importing("terminal-bench", "add-up", where)).error().message).toContain("works in /etc");
  });

  const runs =
    spawnSync("bwrap", ["--version"]).status === 0 && spawnSync("python3", ["-m", "pytest", "--version"]).status === 0;
  it.runIf(runs)(
    "has /app, /tests and /logs in its rooms",
    async () => {
      const where = home();
      writeTask(join(where.cwd, "add-up"), TERMINAL);
      await importing("terminal-bench", "add-up", where);
      execFileSync("cp", ["-r", "task", "work"], { cwd: where.cwd });
      writeFileSync(join(where.cwd, "work/total.txt"), "5\n");
      const run = await runNutshell(["accept", "work", "-r", "task", "--json", "--yes", "--trials", "1"], where);
      const { verdict, results } = JSON.parse(run.out);
      expect([verdict, results[0].before], JSON.stringify(results)).toEqual(["passed", "failed"]);
    },
    240_000,
  );
});
