// Which files may be run, where the disk does not know it (Windows): what an earlier pack recorded in the manifest, or
// what git's index says. So one tree has one content digest on every system.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { MANIFEST_NAME } from "../format/safe-path.js";

/** null where the disk itself knows. */
export function recordedRunBits(root: string, platform: NodeJS.Platform): ReadonlySet<string> | null {
  return platform === "win32" ? new Set([...fromManifest(root), ...fromGit(root)]) : null;
}

function fromManifest(root: string): string[] {
  try {
    const { files } = JSON.parse(readFileSync(join(root, MANIFEST_NAME), "utf8"));
    const rows: readonly { path?: unknown; executable?: unknown }[] = Array.isArray(files?.tree) ? files.tree : [];
    return rows.filter(({ executable }) => executable === true).map(({ path }) => String(path).replace(/^\.\//, ""));
  } catch {
    // What is wrong with a manifest is said by those who need it whole.
    return [];
  }
}

/** Rows look like `100755 <hash> 0\t<path>`, from the folder down. A watcher that the repository names is not started. */
function fromGit(root: string): string[] {
  try {
    const rows = execFileSync("git", ["-c", "core.fsmonitor=false", "ls-files", "-s", "-z"], {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      maxBuffer: 1 << 28,
      timeout: 30_000,
    });
    return rows
      .split("\0")
      .filter((row) => row.startsWith("100755 "))
      .map((row) => row.slice(row.indexOf("\t") + 1));
  } catch {
    return [];
  }
}
