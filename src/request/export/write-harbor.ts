// The folder of a Harbor task: made whole beside its place, then moved there.
import { chmodSync, copyFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryName } from "../../files/index.js";
import type { HarborTask } from "./harbor.js";

export function writeHarbor(task: HarborTask, request: string, target: string): void {
  mkdirSync(dirname(target), { recursive: true });
  const staging = temporaryName(target);
  try {
    // Docker copies an empty folder, but not one that is missing.
    mkdirSync(join(staging, "environment/app"), { recursive: true });
    for (const { path, data, from, executable } of task.files) {
      const place = join(staging, path);
      mkdirSync(dirname(place), { recursive: true });
      if (from === undefined) writeFileSync(place, data ?? "");
      else copyFileSync(join(request, from), place);
      if (executable) chmodSync(place, 0o755);
    }
    renameSync(staging, target);
  } catch (error) {
    rmSync(staging, { recursive: true, force: true });
    throw error;
  }
}
