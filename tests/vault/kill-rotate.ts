// Kills `nutshell rotate` at a chosen system call and looks at what is left. Shared by the quick test and the long one.
import { spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Desk } from "./run.js";

const bin = fileURLToPath(new URL("../../bin/nutshell.js", import.meta.url));
export const hasStrace = spawnSync("strace", ["-V"]).status === 0;

export interface Outcome {
  /** Whether the kill came before the command was done. */
  readonly killed: boolean;
  readonly value: string;
  readonly leftovers: readonly string[];
}

/** Starts a rotation that writes `value` and kills it at the nth call of one kind. */
export async function killRotate(desk: Desk, call: string, when: number, value: string): Promise<Outcome> {
  const { signal, status } = spawnSync(
    "strace",
    [
      "-f",
      "-qq",
      "-o",
      "/dev/null",
      "-e",
      `trace=${call}`,
      "-e",
      `inject=${call}:signal=KILL:when=${when}`,
      process.execPath,
      bin,
      "rotate",
      "db",
      "--value-stdin",
    ],
    { cwd: desk.dir, env: desk.env, input: value, encoding: "utf8" },
  );
  JSON.parse(readFileSync(join(desk.dir, "nutshell.json"), "utf8"));
  const now = new Date();
  const seen = await desk.run(["reveal", "db"], { now });
  if (seen.code !== 0) throw new Error(`after ${call} ${when}: ${seen.err}`);
  // The next change works, and takes away what the killed process left beside the vault.
  const next = await desk.run(["rotate", "db", "--expires", "2099-01-01"], { now });
  if (next.code !== 0) throw new Error(`after ${call} ${when}: ${next.err}`);
  const leftovers = readdirSync(join(desk.dir, "credentials")).filter((name) => name !== "vault.enc.json");
  return { killed: signal === "SIGKILL" || status === null || (status ?? 0) > 128, value: seen.out, leftovers };
}

/** Runs before the program: counts what changes the disk, and kills it there. */
const KILLER = `
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
let left = Number(process.env.KILL_AT);
for (const name of ["openSync", "writeSync", "fsyncSync", "linkSync", "renameSync", "mkdirSync", "rmSync"]) {
  const real = fs[name];
  fs[name] = (...given) => {
    const isChange = name !== "openSync" || (typeof given[1] === "string" && given[1].includes("w"));
    if (isChange) left -= 1;
    if (isChange && left === 0) process.kill(process.pid, "SIGKILL");
    return real(...given);
  };
}
syncBuiltinESMExports();`;

/** The same with --export, killed before its nth change of the disk. */
export async function killExport(desk: Desk, nth: number, value: string, out: string): Promise<Outcome> {
  const { signal } = spawnSync(
    process.execPath,
    [
      `--import=data:text/javascript,${encodeURIComponent(KILLER)}`,
      bin,
      "rotate",
      "db",
      "--value-stdin",
      "--export",
      out,
    ],
    { cwd: desk.dir, env: { ...desk.env, KILL_AT: String(nth) }, input: value, encoding: "utf8" },
  );
  const { out: seen } = await desk.run(["reveal", "db"], { now: new Date() });
  if (existsSync(out) !== (seen === value)) throw new Error(`after ${nth}: ${seen}, ${existsSync(out)}`);
  await desk.run(["rotate", "db", "--expires", "2099-01-01"], { now: new Date() });
  const folders = [desk.dir, join(desk.dir, "credentials"), desk.path("home/.config/nutshell/locks")];
  const known = /^(?:nutshell\.json|credentials|delivery|vault\.enc\.json|[0-9a-f]{32}\.lock)$/;
  const leftovers = folders.flatMap((folder) => readdirSync(folder)).filter((name) => !known.test(name));
  return { killed: signal === "SIGKILL", value: seen, leftovers };
}

const MARKER = "a-word-that-is-only-in-the-bundle";

/** Packs for a peer, uncompressed so that what is in clear can be seen, and kills it at the nth call of one kind. */
export function killedPack(desk: Desk, call: string, when: number): { files: string[]; clear: string[] } {
  const out = desk.path(`out-${call}-${when}`);
  mkdirSync(out);
  mkdirSync(join(desk.dir, "context"), { recursive: true });
  writeFileSync(join(desk.dir, "context/notes.md"), MARKER);
  const { publicKey } = generateKeyPairSync("ed25519");
  const peer = publicKey.export({ type: "spki", format: "der" }).subarray(-32).toString("hex");
  const pack = ["pack", "--force", "--compression", "none", "--peer", peer, "-o", join(out, "x.nut")];
  const inject = ["-e", `trace=${call}`, "-e", `inject=${call}:signal=KILL:when=${when}`];
  spawnSync("strace", ["-f", "-qq", "-o", "/dev/null", ...inject, process.execPath, bin, ...pack], {
    cwd: desk.dir,
    env: desk.env,
    encoding: "utf8",
  });
  const files = readdirSync(out);
  return { files, clear: files.filter((name) => readFileSync(join(out, name)).includes(MARKER)) };
}
