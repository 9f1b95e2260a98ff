// A task taken apart, each part run, the deliveries merged, and the whole verified by running it; with a wrong turn at every
// step.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { runNutshell } from "../cli/run-nutshell.js";
import { nexus } from "../state/nexus.js";
import { put } from "./scripted.js";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "nut-parts-"));
  const criterion = (id: string, name: string) => ({ id, description: id, type: "shell", script: `tests/${name}.sh` });
  put(join(home, "task"), {
    "nutshell.json": JSON.stringify({
      nutshell_version: "0.2.0",
      bundle_type: "request",
      id: "nut-0f000000-0000-4000-8000-00000000000a",
      task: { title: "Say both", summary: "Two files greet, and together they make one line." },
      context: { requirements: "context/requirements.md" },
      acceptance: { criteria_file: "tests/criteria.json" },
      harness: { constraints: ["Do not modify files outside files/"] },
    }),
    "context/requirements.md": "files/a/one.txt says hello, files/b/two.txt says world.\n",
    "files/a/one.txt": "nothing\n",
    "files/b/two.txt": "nothing\n",
    "tests/criteria.json": JSON.stringify({
      criteria: [criterion("AC-A", "a"), criterion("AC-B", "b"), criterion("AC-BOTH", "both")],
    }),
    "tests/a.sh": "grep -q hello files/a/one.txt\n",
    "tests/b.sh": "grep -q world files/b/two.txt\n",
    "tests/both.sh": '[ "$(cat files/a/one.txt files/b/two.txt | tr "\\n" " ")" = "hello world " ]\n',
  });
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const nutshell = (...argv: string[]) => runNutshell(argv, { cwd: home, env: { HOME: home } });
const codeOf = ({ err }: { err: string }) => JSON.parse(err.slice(err.indexOf('{"error"'))).error;

/** An agent that writes where its part has the file. */
const AGENT =
  "sh -c '[ -d files/a ] && echo hello > files/a/one.txt 2>/dev/null; [ -d files/b ] && echo world > files/b/two.txt 2>/dev/null; echo \"VERDICT: pass\"'";

const run = (part: string, output: string) =>
  nexus(
    home,
    ["run", part, "--driver", "command", "--command", AGENT, "--plan", "default", "--trials", "1", "-o", output],
    {
      env: { HOME: home, PATH: process.env.PATH! },
    },
  );

it("comes home: split, run each part, merge, verify the whole by running it", async () => {
  expect((await nutshell("pack", "task", "whole.nut")).code).toBe(0);
  expect((await nutshell("split", "task")).err).toContain("say how to split");
  const split = JSON.parse((await nutshell("split", "task", "--by-folder", "--json")).out);
  expect(split).toMatchObject({
    parts: [{ criteria: ["AC-A"] }, { criteria: ["AC-B"] }],
    whole: ["AC-BOTH"],
  });
  expect((await nutshell("split", "task", "--by-folder")).err).toContain("already there");
  const lost = await run("task-part-3", "three.nut");
  expect([lost.code, lost.err]).toEqual([2, expect.stringMatching(/task-part-3: no such file or folder[\s\S]*hint: /)]);
  expect((await run("task-part-1", "one.nut")).code).toBe(0);

  // Half of it is not the whole, and an untouched part is not done work.
  expect(codeOf(await nutshell("merge", "one.nut", "-o", "m", "--json")).code).toBe("MERGE_PART_MISSING");
  expect(codeOf(await nutshell("merge", "one.nut", "task-part-2", "-o", "m", "--json"))).toMatchObject({
    code: "MERGE_STRANGER",
    message: expect.stringContaining("is a request"),
  });
  expect((await run("task-part-2", "two.nut")).code).toBe(0);

  // A part of another split of the same task has the same number, and is another part.
  await nutshell("split", "task", "--by-folder", "-o", "again");
  expect(codeOf(await nutshell("merge", "task-part-1", "again-part-2", "-o", "m", "--json"))).toMatchObject({
    code: "MERGE_STRANGER",
    message: expect.stringContaining("another split"),
  });
  expect(existsSync(join(home, "m"))).toBe(false);

  expect(await nutshell("merge", "two.nut", "one.nut", "-o", "merged")).toMatchObject({ code: 0 });
  const { artifacts, digests } = JSON.parse(readFileSync(join(home, "merged/delivery/result.json"), "utf8"));
  expect(artifacts).toMatchObject({
    files_created: [],
    files_modified: [{ path: "delivery/artifacts/files/a/one.txt" }, { path: "delivery/artifacts/files/b/two.txt" }],
  });
  expect(digests).toHaveProperty("request");
  const verify = (...flags: string[]) => nutshell("verify", "merged", "-r", "whole.nut", "--trials", "1", ...flags);
  expect(await verify()).toMatchObject({ code: 1, out: expect.stringContaining("--request and --rerun") });
  const alone = await nutshell("verify", "one.nut", "-r", "whole.nut", "--rerun", "--yes", "--trials", "1");
  expect(alone).toMatchObject({ code: 1, out: expect.stringContaining("it answers") });
  const { code, out } = await verify("--rerun", "--yes");
  expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining("verified: completed") });
  expect(out).toContain("AC-BOTH: passed, proven");
});
