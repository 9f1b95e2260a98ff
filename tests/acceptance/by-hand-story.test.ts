// Work done by hand, from an empty folder to "verified: completed", with a wrong turn at every step: each is answered with a
// sentence and a command that leads on, and leaves nothing behind.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { runNutshell } from "../cli/run-nutshell.js";
import { put } from "./room.js";

let place: string;
let folder: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "nut-by-hand-"));
  folder = join(place, "an empty folder");
  for (const path of [folder, join(place, "tmp")]) mkdirSync(path);
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

/** Words as a person types them; quotes hold one together. */
async function type(line: string) {
  const words = [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c!);
  const env = { HOME: join(place, "home"), TMPDIR: join(place, "tmp"), NUTCRACKER_CONSENT: "all" };
  const run = await runNutshell(words, { cwd: folder, env });
  expect(readdirSync(join(place, "tmp"))).toEqual([]);
  return run;
}
const works = async (line: string) => {
  const run = await type(line);
  expect(run, `${line}\n${run.err}${run.out}`).toMatchObject({ code: 0 });
  return run.out;
};
const everything = () => readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
/** A no that names what to type, and changes no file. */
const wrong = async (line: string, why: string | RegExp, way: string | RegExp) => {
  const before = everything();
  const { code, out, err } = await type(line);
  expect([1, 2], `${line}\n${out}${err}`).toContain(code);
  expect(`${out}${err}`).toMatch(why);
  expect(`${out}${err}`).toMatch(way);
  expect(everything()).toEqual(before);
};

it("comes home, and every wrong turn names the command that gets back", async () => {
  // The one who asks.
  await wrong("check task", "no such", "hint: ");
  await works("init task --yes");
  await wrong("init task --yes", "never overwrites", /nutshell check \S/);
  await wrong("set task.tittle x --dir task", "unknown field task.tittle", "task has title, summary");
  await works('set task.title "Say hello" --dir task');
  await works('set task.summary "files/greeting.txt says hello." --dir task');
  await works("set acceptance.test_scripts tests/hello.sh --dir task");
  put(join(folder, "task"), { "context/requirements.md": "Say hello.\n", "files/greeting.txt": "nothing\n" });
  await wrong("check task", "tests/hello.sh", /(?:EDITOR|nutshell) .*task/);
  await wrong("pack --dir task -o task.nut", "incomplete", "nutshell check --dir task");
  put(join(folder, "task"), { "tests/hello.sh": "grep -q hello files/greeting.txt\n" });
  await works("check task");
  await works("pack --dir task -o task.nut");
  await wrong("pack --dir nowhere -o x.nut", "nowhere", "hint: ");

  // The one who works.
  await wrong("unpack tusk.nut -o work", "no such", "hint: ");
  await works("unpack task.nut -o work");
  await wrong("unpack task.nut -o work", /not empty|already/, /-o|--force/);
  await wrong("accept work -r task.nut --trials 1", "1 failed", "tests/hello.sh");
  await wrong("finish work -r task.nut -o done.nut -m x", "differs from the request", "hint: ");
  await wrong("finish work -o done.nut -m x", "finish needs --request", "nutshell finish");
  put(join(folder, "work"), { "files/greeting.txt": "hello\n" });
  await works("accept work -r task.nut --trials 1");
  await wrong("finish wrok -r task.nut -o done.nut", "no such folder", "hint: ");
  await wrong("finish work -r work -o done.nut -m x", "differs from the request", "hint: ");
  await wrong('finish work -r task.nut -o done.nut --point "1: it does"', "no checklist", "hint: ");
  expect(await works('finish work -r task.nut -o done.nut -m "It says hello." --trials 1')).toContain(
    "nutshell verify",
  );
  await wrong("finish task -r task.nut -o done.nut -m x", /differs|already exists/, "hint: ");

  // The one who asked.
  await wrong("verify done.nut --rerun", "needs the request", "nutshell verify done.nut --request");
  await wrong("verify done.nut -r task.nut", "recorded, not proven", "run it here with --request and --rerun");
  await wrong("verify task.nut -r task.nut --rerun", "is a request", "nutshell finish");
  await wrong("verify work -r task.nut --rerun", "is a request", "nutshell finish");
  await works("init other --yes");
  put(join(folder, "other"), { "context/requirements.md": "Something else.\n" });
  await wrong("verify done.nut -r other --rerun --trials 1", "not", /it answers nut-\S+, not nut-/);
  await wrong("apply done.nut --repo .", "in no git repository", "--repo '<dir>'");
  expect(await works("verify done.nut -r task.nut --rerun --trials 1")).toContain("verified: completed");
  expect(existsSync(join(folder, "done.nut"))).toBe(true);
}, 60_000);
