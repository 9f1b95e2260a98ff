// What people type first, and get wrong: every answer names the thing and what to type instead.
import { spawn, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { here } from "../run/here.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const place = mkdtempSync(join(tmpdir(), "nut-mistakes-"));
afterAll(() => rmSync(place, { recursive: true, force: true }));
cpSync(join(root, "examples/1-bug-fix"), join(place, "task"), { recursive: true });
cpSync(join(root, "examples/1-bug-fix"), join(place, "plain"), { recursive: true });
rmSync(join(place, "plain/context/demo-agent.json"));
writeFileSync(join(place, "notes.md"), "# not a bundle\n");
spawnSync(process.execPath, [
  join(root, "bin/nutshell.js"),
  "pack",
  join(place, "task"),
  "-o",
  join(place, "task.nut"),
]);

const env = { PATH: process.env.PATH, HOME: join(place, "home"), TMPDIR: place };
const program = (name: string) => join(root, "bin", `${name}.js`);
async function run(line: string) {
  const [name, ...words] = line.split(" ") as ["nutshell" | "nexus", ...string[]];
  const { status, stderr } = await here(name, place, words, env);
  return { status, stderr: stderr.replaceAll(place, "~") };
}

describe("a mistake", () => {
  it.each([
    ["nutshell chek", 'unknown command "chek", did you mean "check"?', "nutshell help"],
    ["nutshell pack nowhere", "~/nowhere: no such folder", "check the spelling, and the folder you are in: pwd"],
    ["nutshell pack", "~/nutshell.json: no manifest here", "nutshell init --dir ~"],
    ["nutshell pack --dir plain -o no/where.nut", "~/no: no such folder", "mkdir -p ~/no"],
    ["nutshell unpack task.nut -o no/where", "~/no: no such folder", "mkdir -p ~/no"],
    ["nutshell export task -o no/page.html", "~/no: no such folder", "mkdir -p ~/no"],
    ["nutshell inspect notes.md", "~/notes.md: not a bundle: it does not start with NUT\\x01", "bundles are made with"],
    ["nutshell credentials task", 'nutshell credentials does not take "task"', "nutshell credentials --dir task"],
    ["nutshell publish task", 'nutshell publish does not take "task"', "nutshell publish --dir task"],
    ["nutshell exec ls", 'nutshell exec does not take "ls"', "nutshell exec [flags] -- ls"],
    [
      "nexus setup cursor",
      '<host>: must be one of claude, codex, opencode, qwen, gemini, not "cursor"',
      "nexus setup --help",
    ],
    ["nexus run task --driver codx", 'there is no driver "codx": demo, codex, claude', "nexus drivers"],
    ["nexus run plain", "nobody can be asked here which agent program to use", "nexus drivers"],
    ["nexus run task --plan nope.json", "~/nope.json: no such file or folder", "check the spelling"],
    ["nexus run task --jobs 0", '--jobs: must be at least 1, not "0"', "nexus run --help"],
    ["nutshell receive abc", "--file: is needed", "nutshell receive --help"],
    [
      "nutshell add-credential --name a --type b --dir task",
      "there is nobody to encrypt for",
      "nutshell keygen && nutshell add-credential --name a --type b --dir task",
    ],
    ["nexus run notes.md", "~/notes.md: not a bundle", "bundles are made with"],
    ["nexus run task --driver demo --plan plain", "~/plain: is a folder", "name a file in it: ls ~/plain"],
    ["nexus bench plain", "nobody takes part", "nexus bench plain --with codex --with claude:opus"],
    ["nutshell set task.title x --dir task.nut", "~/task.nut: not a folder", "nutshell unpack ~/task.nut"],
    ["nutshell sign nope.nut", "~/nope.nut: no such file or folder", "check the spelling"],
    [
      "nutshell verify no.nut --request task.nut --rerun --sign",
      "~/no.nut: no such file or folder",
      "check the spelling",
    ],
    [
      "nexus fleet work --driver demo --yes --jobs 2",
      "no server is named for the fleet",
      "nexus fleet work --driver demo --yes --jobs 2 --server nats://127.0.0.1:4222",
    ],
  ])("%s", async (line, error, hint) => {
    const { status, stderr } = await run(line);
    expect(stderr).toContain(`error: `);
    expect(stderr).toContain(error);
    expect(stderr).toContain(`hint: ${hint}`);
    expect(status).toBe(2);
    expect(readdirSync(place).sort()).toEqual(["notes.md", "plain", "task", "task.nut"]);
  });

  it("a draft is not run: an agent would only guess", async () => {
    await run("nutshell init draft");
    cpSync(join(place, "task/context/demo-agent.json"), join(place, "draft/context/demo-agent.json"));
    const { status, stderr } = await run("nexus run draft");
    expect(stderr).toContain("error: the request is still a draft");
    expect(stderr).toContain("hint: nutshell check ~/draft");
    expect(status).toBe(1);
    rmSync(join(place, "draft"), { recursive: true });
    expect(readdirSync(place)).not.toContain(".nexus");
  });
});

describe("what people type without thinking", () => {
  it.each(["version", "--version", "-v", "-V"])("nutshell %s", (word) => {
    const { status, stdout } = spawnSync(process.execPath, [program("nutshell"), word], { env, encoding: "utf8" });
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^nutshell v\d/) });
  });

  it("nutshell --json lists the commands", () => {
    const { stdout } = spawnSync(process.execPath, [program("nutshell"), "--json"], { env, encoding: "utf8" });
    expect(JSON.parse(stdout).commands.map(({ name }: { name: string }) => name)).toContain("pack");
  });
});

describe("a terminal that goes away or is odd", () => {
  it.each(["nutshell help", "nutshell schema", "nexus catalog show engineer", "nutshell skill"])(
    "%s | head -1 ends without a word",
    (line) => {
      const [name, ...words] = line.split(" ");
      const command = `set -o pipefail; "${process.execPath}" "${program(name!)}" ${words.join(" ")} | head -1`;
      const { stdout, stderr, status } = spawnSync("bash", ["-c", command], { cwd: place, env, encoding: "utf8" });
      expect(stderr).toBe("");
      expect(stdout.split("\n").length).toBe(2);
      expect([0, 141]).toContain(status);
    },
  );

  it.each(["nutshell help", "nexus catalog show engineer"])("%s into nothing ends without a word, and well", (line) => {
    const [name, ...words] = line.split(" ");
    const command = `set -o pipefail; { sleep 0.2; "${process.execPath}" "${program(name!)}" ${words.join(" ")}; } | true`;
    const { stderr, status } = spawnSync("bash", ["-c", command], { cwd: place, env, encoding: "utf8" });
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  });

  it("colours nothing that is not a terminal, nor with NO_COLOR", () => {
    for (const more of [{}, { NO_COLOR: "1", FORCE_COLOR: "1" }]) {
      const { stdout } = spawnSync(process.execPath, [program("nutshell"), "check", "task"], {
        cwd: place,
        env: { ...env, ...more },
        encoding: "utf8",
      });
      expect(stdout).not.toContain("\x1b");
    }
  });

  it("ends at Ctrl-C with 130 and says how to go on", async () => {
    const child = spawn(
      process.execPath,
      [program("nexus"), "run", "task", "--driver", "command", "--command", "sleep 60"],
      {
        cwd: place,
        env,
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    let text = "";
    let asked = false;
    child.stdout.setEncoding("utf8").on("data", (part: string) => {
      text += part;
    });
    child.stderr.setEncoding("utf8").on("data", (part: string) => {
      text += part;
      if (!asked && /works on task 1/.test(text)) asked = child.kill("SIGINT");
    });
    const code = await new Promise((done) => child.once("close", done));
    expect(code).toBe(130);
    expect(text).toContain("nexus resume");
    expect(text).not.toMatch(/bug:|Error/);
    rmSync(join(place, ".nexus"), { recursive: true, force: true });
  });
});

describe("an answer nobody gets", () => {
  const sh = (line: string) => {
    const tool = (name: string) => `"${process.execPath}" "${program(name)}"`;
    const script = `set -o pipefail; nutshell() { ${tool("nutshell")} "$@"; }; nexus() { ${tool("nexus")} "$@"; }; ${line}`;
    const { stdout, stderr } = spawnSync("bash", ["-c", script], { cwd: place, env, encoding: "utf8" });
    return { stdout, stderr: stderr.replaceAll(place, "~") };
  };

  it("is no yes: the reader that left does not change it", () => {
    expect(sh("nutshell diff task task | true; echo $?").stdout).toBe("0\n");
    expect(sh("nutshell diff task plain | true; echo $?").stdout).toBe("1\n");
  });

  it("is told when it could not be written, as JSON too", () => {
    const full = "standard output: the disk is full";
    const told = sh("nutshell validate task.nut >/dev/full; echo $? >&2").stderr;
    expect(told).toMatch(new RegExp(`^nutshell: error: ${full}\nnutshell: hint: .+\n2\n$`));
    const { error } = JSON.parse(sh("nutshell validate task.nut --json >/dev/full").stderr);
    expect(error).toMatchObject({ code: "DISK_FULL", message: full });
  });

  it("stops a run whose lines nobody reads, so that it can go on", () => {
    const line = "nexus run task.nut --driver demo --json --yes -o d.nut | sed /engineer-1/q >/dev/null; echo $?";
    const { stdout, stderr } = sh(`${line}; nexus runs`);
    expect(stdout).toMatch(/^141\n\S+ +paused .+\n +the run was interrupted\n$/);
    expect(stderr).toBe("");
  });

  it("ends the tools of an agent that has gone", () => {
    const { stdout, stderr } = sh(`echo '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' | nexus mcp | true; echo $?`);
    expect({ stdout, stderr }).toEqual({ stdout: "0\n", stderr: "" });
  });

  it("is a sentence in a folder that is gone", () => {
    const { stderr } = sh(
      "mkdir gone && cd gone && rmdir ../gone && nutshell check; echo $? >&2; nutshell help >/dev/null; echo $? >&2",
    );
    expect(stderr).toBe(
      "nutshell: error: the folder this was started in is not there any more\nnutshell: hint: cd ~\n2\n0\n",
    );
  });
});
