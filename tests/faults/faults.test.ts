// A disk that fails: over its quota, read-only, with errors. Every file call of a command fails in its turn, in a process
// that has shim.c loaded; the command says so in a sentence and leaves everything as it was.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ownKey } from "../statements/keys.js";
import { Desk } from "../vault/run.js";
import type { Outcome, Trial } from "./trials.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const hasCompiler = process.platform === "linux" && spawnSync("cc", ["--version"]).status === 0;
const memory = "/dev/shm";
const place = mkdtempSync(join(existsSync(memory) ? memory : tmpdir(), "nut-faults-"));
afterAll(() => rmSync(place, { recursive: true, force: true }));

const COMMANDS = [
  "nutshell init --dir new --yes",
  "nutshell set task.title hello --dir task",
  "nutshell check task --fix",
  "nutshell add-credential --dir task --name b --type password --value-stdin",
  "nutshell rotate api --dir task --value-stdin --export new.json",
  "nutshell pack task -o out.nut",
  "nutshell pack task -o task.nut",
  "nutshell unpack task.nut -o got",
  "nutshell split task -n 2 -o piece",
  "nutshell merge task.nut -o whole --partial",
  "nutshell hide --dir task --criteria task/tests/criteria.json",
  "nutshell export task.nut -o page.html",
  "nutshell keygen -o key.txt",
  "nutshell inspect task.nut",
  "nutshell init new --from bug-fix --yes",
  "nutshell trust add a@example.org --key home/id.pub",
  "nutshell reveal api --dir task",
  "nutshell apply task.nut --repo .",
  "nutshell sign task.nut --key home/.config/nutshell/peer.key",
  "nutshell finish work --request task.nut -o done.nut -m x --by Ada --no-accept",
  "nexus setup claude --yes",
];

const FULL = ",create,write,mkdir,";
const READ_ONLY = ",create,mkdir,rename,link,unlink,chmod,";
const ANY = ",open,create,read,write,fsync,rename,list,stat,mkdir,chmod,";

const isLong = process.env.NUTCRACKER_LONG === "1";
const turns = (last: number, step: number) =>
  Array.from({ length: last }, (_, n) => n + 1).filter((n) => isLong || n % step === 1);

function trialsOf(line: string, index: number): Trial[] {
  const shift = isLong ? 0 : index % 4;
  return [
    ...turns(16, 5).map((at) => ({ line, errno: "EDQUOT" as const, calls: FULL, at })),
    { line, errno: "EROFS", calls: READ_ONLY, at: 1 },
    ...turns(40, 9).map((at) => ({ line, errno: "EIO" as const, calls: ANY, at: at + shift, once: true })),
    { line, errno: "ENXIO", calls: ANY, at: 2 + shift, once: true },
  ];
}

let outcomes: Outcome[];

describe.skipIf(!hasCompiler)("a disk that fails (cc)", () => {
  beforeAll(async () => {
    const template = join(place, "template");
    const desk = new Desk();
    cpSync(join(root, "examples/1-bug-fix"), join(desk.root, "bug"), { recursive: true });
    const start = [
      ["keygen"],
      ["keygen", "--peer"],
      ["add-credential", "--dir", "../bug", "--name", "api", "--type", "token", "--expires", "30d", "--value-stdin"],
      ["pack", "../bug", "-o", "../task.nut"],
    ];
    for (const argv of start) expect((await desk.run(argv, { stdin: "s3cret" })).err).not.toContain("error");
    mkdirSync(join(template, "tmp"), { recursive: true });
    for (const [from, to] of [
      ["bug", "task"],
      ["home", "home"],
      ["task.nut", "task.nut"],
    ])
      cpSync(join(desk.root, from!), join(template, to!), { recursive: true });
    cpSync(join(template, "task"), join(template, "work"), { recursive: true });
    writeFileSync(join(template, "work/files/src/slug.mjs"), "export const slug = () => 'x';\n");
    desk.remove();
    writeFileSync(join(template, "home/id.pub"), `${ownKey().line}\n`);
    const shim = join(place, "shim.so");
    execFileSync("cc", ["-shared", "-fPIC", "-O1", "-o", shim, join(root, "tests/faults/shim.c"), "-ldl"]);
    writeFileSync(join(place, "trials.json"), JSON.stringify(COMMANDS.flatMap(trialsOf)));
    const { stdout, stderr, status } = spawnSync(
      process.execPath,
      ["--import", "tsx", join(root, "tests/faults/trials.ts"), place, join(place, "trials.json")],
      { cwd: root, env: { ...process.env, LD_PRELOAD: shim }, encoding: "utf8", maxBuffer: 1 << 28 },
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    outcomes = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  }, 300_000);

  const told = ({ line, errno, at, err, changed }: Outcome) => `${line}: ${errno} ${at}: ${changed?.join(" ")} ${err}`;
  const struck = () => outcomes.filter((each) => each.struck);

  it("is met by every command", () => {
    for (const line of COMMANDS)
      expect(
        struck().some((each) => each.line === line),
        line,
      ).toBe(true);
    expect(struck().filter(({ errno }) => errno === "EDQUOT").length).toBeGreaterThan(20);
  });

  it("is said in a sentence with a hint, never called a bug", () => {
    const wrong = struck().filter(({ code, err }) => code !== 0 && !/^(?:nutshell|nexus): hint: \S/m.test(err));
    expect(wrong.map(told)).toEqual([]);
    expect(
      struck()
        .filter(({ code }) => code > 2)
        .map(told),
    ).toEqual([]);
  });

  it("names the quota, not a number", () => {
    const messages = struck().filter(({ errno, code }) => errno === "EDQUOT" && code === 2);
    expect(messages.length).toBeGreaterThan(15);
    expect(messages.filter(({ err }) => !err.includes("the disk quota is used up")).map(told)).toEqual([]);
  });

  it("is never called a name that was misspelt", () => {
    expect(
      struck()
        .filter(({ err, code }) => code === 2 && /no such file|check the spelling|not JSON/.test(err))
        .map(told),
    ).toEqual([]);
  });

  it("leaves everything as it was when the command fails", () => {
    // The lock beside one's keys, or beside whom one trusts, stays, as after a command that ended well.
    const own = (name: string) => !/^home\/(?:\.config\/nutshell\/locks|\.local\/state\/nutshell)/.test(name);
    // A temporary folder that was made before the disk became read-only cannot be removed any more.
    const stuck = (name: string, errno: string) => errno === "EROFS" && name.startsWith("tmp/");
    const wrong = struck().filter(({ changed, errno }) => changed?.some((name) => own(name) && !stuck(name, errno)));
    expect(wrong.map(told)).toEqual([]);
  });
});
