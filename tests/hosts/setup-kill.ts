// Kills `nexus setup` before its nth change of the disk, then undoes it.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { newPlace, type Place } from "./clients.js";
import { ROOT } from "./hook-process.js";

/** Runs before the program: counts what changes the disk, and kills it there. */
const KILLER = `
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
let left = Number(process.env.KILL_AT);
for (const name of ["openSync", "writeSync", "fsyncSync", "renameSync", "mkdirSync", "rmSync", "rmdirSync", "unlinkSync"]) {
  const real = fs[name];
  fs[name] = (...given) => {
    const isChange = name !== "openSync" || (typeof given[1] === "string" && given[1].includes("w"));
    if (isChange) left -= 1;
    if (isChange && left === 0) process.kill(process.pid, "SIGKILL");
    return real(...given);
  };
}
syncBuiltinESMExports();`;

const FILES = {
  ".claude/settings.json": '{\n\t"model":  "opus",\n\t"hooks": { "Stop": [] }\n}\n',
  "AGENTS.md": "# Mine, without an end of line",
  "CLAUDE.md": "# Mine\r\n\r\nwith Windows lines\r\n",
  ".codex/config.toml": '# keep\nmodel = "x" # why\n',
};

export interface KilledSetup {
  /** false when it ended before it could be killed. */
  readonly killed: boolean;
  /** Paths that are not as they were. */
  readonly wrong: readonly string[];
}

/** `again`: it was set up before, and its configuration has changed since. */
export function killSetup(host: string, when: number, { again = false } = {}): KilledSetup {
  const place = newPlace(FILES);
  try {
    const before = tree(place);
    if (again) {
      place.nexus("setup", host);
      place.write(".nexus/config.yml", "capabilities:\n  engineer: [no_shell_exec]\n");
    }
    const { signal } = spawnSync(
      process.execPath,
      [`--import=data:text/javascript,${encodeURIComponent(KILLER)}`, join(ROOT, "bin/nexus.js"), "setup", host],
      { cwd: place.root, env: { PATH: process.env.PATH, HOME: place.home, KILL_AT: String(when) }, timeout: 60_000 },
    );
    place.nexus("setup", host, "--remove");
    const after = tree(place);
    for (const name of Object.keys(after)) if (name.startsWith("project/.nexus")) delete after[name];
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return { killed: signal === "SIGKILL", wrong: [...names].filter((name) => before[name] !== after[name]) };
  } finally {
    place.remove();
  }
}

/** Everything of the project and the home, but git's own and the empty folder receipts lie in. */
function tree({ root, home }: Place): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [label, folder] of Object.entries({ project: root, home })) {
    for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
      const path = join(folder, name);
      const isFolder = lstatSync(path).isDirectory();
      if (name === ".git" || name.startsWith(".git/") || (isFolder && name.startsWith(".local"))) continue;
      found[`${label}/${name}`] = isFolder ? "folder" : createHash("sha256").update(readFileSync(path)).digest("hex");
    }
  }
  return found;
}
