// Whether rooms on this disk can be overlays, found out by making one.
import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Environment, overlayPlace, runChild } from "../../process/index.js";

/** Where things are inside every sandboxed room. */
export const HOME = "/home/user";
export const TREE = `${HOME}/project`;

const overlays = new Map<string, Promise<boolean>>();

/** Whether an overlay can be made on this disk; asked once per disk. */
export function overlayWorks(folder: string, env: Environment): Promise<boolean> {
  mkdirSync(folder, { recursive: true });
  const disk = String(statSync(folder).dev);
  const known = overlays.get(disk) ?? tryOverlay(folder, env);
  overlays.set(disk, known);
  return known;
}

async function tryOverlay(folder: string, env: Environment): Promise<boolean> {
  const [below, accounts] = [join(folder, "below"), join(folder, "etc")];
  for (const path of [below, accounts]) mkdirSync(path, { recursive: true });
  writeFileSync(join(below, "kept"), "");
  writeFileSync(join(below, "gone"), "");
  const changes = join(folder, "changes");
  writeFileSync(join(folder, "removed"), `${overlayPlace(changes)}/gone\0`);
  try {
    const { code } = await runChild({
      command: "sh",
      args: ["-c", "test -f kept && test ! -e gone && echo > new"],
      cwd: TREE,
      env: { PATH: env.PATH },
      timeoutMs: 10_000,
      sandbox: {
        root: "system",
        network: "host",
        neutral: { home: HOME, folder: accounts },
        mounts: [{ access: "overlay", path: TREE, layers: [below], changes, removed: join(folder, "removed") }],
      },
    });
    return code === 0;
  } catch {
    return false;
  } finally {
    removeFolder(folder);
  }
}

/** An overlay leaves a folder that only its owner's word opens again. */
export function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    openFolders(folder);
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

function openFolders(folder: string): void {
  chmodSync(folder, 0o700);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) openFolders(join(folder, entry.name));
  }
}
