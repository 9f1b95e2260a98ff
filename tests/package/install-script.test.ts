import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TARGETS } from "../../scripts/standalone/targets.js";
import { root } from "./installed.js";

let work: string;
let release: string;
beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), "nutcracker-install-"));
  release = join(work, "release");
  mkdirSync(release);
  const names = Object.entries(TARGETS).flatMap(([target, { suffix = "" }]) =>
    ["nutshell", "nexus"].map((tool) => `${tool}-${target}${suffix}`),
  );
  for (const name of names) writeFileSync(join(release, name), `this is ${name}\n`);
  const sums = names.map((name) => {
    const digest = createHash("sha256")
      .update(readFileSync(join(release, name)))
      .digest("hex");
    return `${digest}  ${name}\n`;
  });
  writeFileSync(join(release, "SHA256SUMS"), sums.join(""));
});
afterEach(() => rmSync(work, { recursive: true, force: true }));

/** Runs install.sh as if on another machine: uname says what we want it to say. */
function install(machine: { os: string; arch: string }, from: string, env: Record<string, string> = {}) {
  const bin = join(work, "fake");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "uname"), `#!/bin/sh\n[ "$1" = -s ] && echo '${machine.os}' || echo '${machine.arch}'\n`);
  chmodSync(join(bin, "uname"), 0o755);
  const prefix = join(work, "prefix");
  const { status, stdout, stderr } = spawnSync("sh", [join(root, "install.sh"), "--prefix", prefix], {
    encoding: "utf8",
    env: { PATH: `${bin}:${process.env.PATH}`, HOME: work, TMPDIR: work, NUTCRACKER_BASE_URL: from, ...env },
  });
  const installed = existsSync(join(prefix, "bin")) ? readdirSync(join(prefix, "bin")).sort() : [];
  const content = installed.map((name) => readFileSync(join(prefix, "bin", name), "utf8").trim());
  rmSync(prefix, { recursive: true, force: true });
  const left = readdirSync(work).filter((name) => name.startsWith("tmp."));
  return { status, stdout, stderr, installed, content, left };
}

const LINUX = { os: "Linux", arch: "x86_64" };

describe("install.sh without a word", () => {
  const run = (script: string, env: Record<string, string> = {}) =>
    spawnSync("sh", ["-s"], { input: script, encoding: "utf8", env: { PATH: process.env.PATH!, HOME: work, ...env } });
  const script = readFileSync(join(root, "install.sh"), "utf8");

  it("explains itself, also when it is piped into sh", () => {
    const { status, stdout, stderr } = run(script);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toContain("sh install.sh --from https://");
    expect(stderr).toContain("install: error: this copy names no release address");
  });

  it("does nothing when it arrives cut short, wherever that is", () => {
    const lines = script.split("\n");
    for (let kept = 1; kept < lines.length - 1; kept += 1) {
      const prefix = join(work, "cut");
      run(`${lines.slice(0, kept).join("\n")}\n`, { NUTCRACKER_BASE_URL: release, PREFIX: prefix });
      if (existsSync(prefix)) expect.unreachable(`cut after line ${kept}: ${lines[kept - 1]}`);
    }
  });

  it("does not say who asks, when an address names somebody", () => {
    const { status, stderr } = run(script, { NUTCRACKER_BASE_URL: "https://me:canary-5f1c@127.0.0.1:9/v1" });
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining("https://127.0.0.1:9/v1") });
    expect(stderr).not.toContain("canary");
  });

  it("installs from the address that one line of it names", () => {
    expect(script.match(/^releases=''$/gm)).toHaveLength(1);
    const { status } = run(script.replace(/^releases=''$/m, `releases='${release}'`), { TMPDIR: work });
    expect(status).toBe(0);
    expect(readdirSync(join(work, ".local/bin")).sort()).toEqual(["nexus", "nutshell"]);
  });
});

describe("install.sh", () => {
  it.each([
    [LINUX, "linux-amd64", ""],
    [{ os: "Linux", arch: "aarch64" }, "linux-arm64", ""],
    [{ os: "Darwin", arch: "x86_64" }, "darwin-amd64", ""],
    [{ os: "Darwin", arch: "arm64" }, "darwin-arm64", ""],
    [{ os: "MINGW64_NT-10.0", arch: "x86_64" }, "windows-amd64", ".exe"],
  ])("picks the files for %o", (machine, target, suffix) => {
    expect(install(machine, release)).toMatchObject({
      status: 0,
      installed: [`nexus${suffix}`, `nutshell${suffix}`],
      content: [`this is nexus-${target}${suffix}`, `this is nutshell-${target}${suffix}`],
      left: [],
    });
  });

  it("writes through no link that waits in the folder for it", () => {
    const bin = join(work, "prefix", "bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(work, "theirs"), "theirs\n");
    const planting = `for t in nutshell nexus; do ln -s ${work}/theirs ${bin}/.$t.$$; done; exec sh ${join(root, "install.sh")} --from ${release} --prefix ${work}/prefix`;
    const { status, stderr } = spawnSync("sh", ["-c", planting], { encoding: "utf8" });
    expect(status, stderr).toBe(0);
    expect(readFileSync(join(work, "theirs"), "utf8")).toBe("theirs\n");
  });

  it("checks what it installs where nobody else may rename it", () => {
    const [fake, log] = [join(work, "fake"), join(work, "checked")];
    mkdirSync(fake, { recursive: true });
    const program = `#!/bin/sh\nprintf '%s\\n' "$1" >> "${log}"\nexec /usr/bin/sha256sum "$1"\n`;
    writeFileSync(join(fake, "sha256sum"), program, { mode: 0o755 });
    const { status, installed } = install(LINUX, release, { TMPDIR: join(work, "nowhere") });
    expect({ status, installed }).toEqual({ status: 0, installed: ["nexus", "nutshell"] });
    const places = readFileSync(log, "utf8").trim().split("\n");
    expect(places.filter((path) => !path.startsWith(join(work, "prefix/bin/")))).toEqual([]);
    expect(places).toHaveLength(2);
  });

  it("makes no folder that others may write to, whatever the umask", () => {
    const prefix = join(work, "open");
    const line = `umask 0; sh '${join(root, "install.sh")}' --from '${release}' --prefix '${prefix}'`;
    expect(spawnSync("sh", ["-c", line], { env: { PATH: process.env.PATH!, HOME: work, TMPDIR: work } }).status).toBe(
      0,
    );
    for (const path of ["", "bin", "bin/nutshell"]) expect(statSync(join(prefix, path)).mode & 0o022).toBe(0);
  });

  it("lets checksums say nothing to the terminal", () => {
    const sums = readFileSync(join(release, "SHA256SUMS"), "utf8").replace(/^[0-9a-f]+/gm, "\u001b]0;theirs\u0007");
    writeFileSync(join(release, "SHA256SUMS"), sums);
    const { status, stderr } = install(LINUX, release);
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining("SHA256SUMS") });
    expect(stderr).not.toContain("\u001b");
  });

  it("refuses a machine there is no file for, with another way", () => {
    const { status, stderr, installed } = install({ os: "Plan9", arch: "x86_64" }, release);
    expect({ status, installed }).toEqual({ status: 2, installed: [] });
    expect(stderr).toContain("npm install -g nutcracker");
    expect(install({ os: "Linux", arch: "riscv64" }, release).status).toBe(2);
  });

  it("installs neither when the second is not what it should be, or is not named", () => {
    writeFileSync(join(release, "nexus-linux-amd64"), "something else");
    expect(install(LINUX, release)).toMatchObject({ status: 2, installed: [], left: [] });
    writeFileSync(join(release, "SHA256SUMS"), "");
    expect(install(LINUX, release)).toMatchObject({ status: 2, installed: [], left: [] });
    expect(install(LINUX, join(work, "nowhere"))).toMatchObject({ status: 2, installed: [], left: [] });
  });

  it("fetches from this machine or over https, and from nowhere else", async (context) => {
    if (spawnSync("curl", ["--version"]).error !== undefined) context.skip("curl is not installed");
    const server = createServer((request, response) => {
      const path = join(release, (request.url ?? "").replace("/v1/", ""));
      if (existsSync(path)) response.end(readFileSync(path));
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    // A child that asks this process needs its event loop.
    const { spawn } = await import("node:child_process");
    const run = (from: string) =>
      new Promise<number | null>((resolve) => {
        const args = [join(root, "install.sh"), "--from", from, "--prefix", join(work, "fetched")];
        spawn("sh", args, { stdio: "ignore", env: { PATH: process.env.PATH, HOME: work } }).once("close", resolve);
      });
    try {
      expect(await run(`http://127.0.0.1:${port}/v1/`)).toBe(0);
      expect(readdirSync(join(work, "fetched/bin")).sort()).toEqual(["nexus", "nutshell"]);
      expect(await run(`http://127.0.0.1:${port}/v2`)).toBe(2);
    } finally {
      server.close();
    }
    for (const elsewhere of [
      "http://example.org/v1",
      "http://localhost.example.org/v1",
      "http://127.0.0.1.example.org/",
    ])
      expect(install(LINUX, elsewhere).stderr).toContain("neither https nor this machine");
    expect(install(LINUX, "http://127.0.0.1:80@example.org/v1").stderr).toContain("only https may");
    expect(install(LINUX, "ftp://example.org/v1").status).toBe(2);
  });

  it.each(["curl", "wget"])("follows no redirect that is not https, with %s", async (program) => {
    const tools = join(work, `only-${program}`);
    mkdirSync(tools);
    for (const name of readdirSync("/usr/bin")) {
      if (name === program || (name !== "curl" && name !== "wget"))
        symlinkSync(join("/usr/bin", name), join(tools, name));
    }
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? "");
      const path = join(release, (request.url ?? "").replace("/v1/", ""));
      if (request.url?.startsWith("/away/")) {
        response.writeHead(302, { location: request.url.replace("/away/", `http://localhost:${port}/v1/`) }).end();
      } else if (existsSync(path)) response.end(readFileSync(path));
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const { spawn } = await import("node:child_process");
    const run = (from: string) =>
      new Promise<number | null>((resolve) => {
        const args = [join(root, "install.sh"), "--from", from, "--prefix", join(work, `by-${program}`)];
        spawn("/bin/sh", args, { stdio: "ignore", env: { PATH: tools, HOME: work } }).once("close", resolve);
      });
    try {
      expect(await run(`http://127.0.0.1:${port}/away/`)).toBe(2);
      expect(asked.every((url) => url.startsWith("/away/"))).toBe(true);
      expect(await run(`http://127.0.0.1:${port}/v1/`)).toBe(0);
    } finally {
      server.close();
    }
  });

  it("is clean for every POSIX shell", (context) => {
    const { error, stdout } = spawnSync("shellcheck", ["-s", "sh", "install.sh", "examples/pre-commit"], {
      cwd: root,
      encoding: "utf8",
    });
    if (error !== undefined) context.skip("shellcheck is not installed");
    expect(stdout).toBe("");
  });
});
