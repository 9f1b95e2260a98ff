// A bundle of the tree after each task, when the request asks for checkpoints: whoever stops the run keeps what was done.
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { packFolder } from "../../bundle/index.js";
import { removeFolder } from "../../files/index.js";
import type { RunTask } from "../../schema/run.js";
import { copyFolder } from "../../trees/slots.js";
import { compareTrees } from "../../trees/tree.js";
import { type Run, record } from "../run.js";

export async function checkpoint(run: Run, task: RunTask): Promise<void> {
  if (run.manifest.harness?.checkpoints !== true) return;
  const number = run.state.checkpoints.length + 1;
  const name = `${String(number).padStart(3, "0")}-task-${task.id}.nut`;
  const path = join(run.folder.checkpoints, name);
  const { bundle_type: _, id: requestId, ...rest } = run.manifest;
  mkdirSync(run.folder.checkpoints, { recursive: true });
  if (!existsSync(path)) {
    const tree = wholeMain(run);
    await packFolder(tree, {
      output: path,
      manifest: {
        ...rest,
        bundle_type: "checkpoint",
        id: `nut-${run.folder.id}-${number}`,
        parent_id: requestId,
        created_at: run.context.now().toISOString(),
      },
      level: "fast",
      signal: run.halt.signal,
    });
    if (tree !== run.folder.main) removeFolder(tree);
  }
  record(run, { type: "checkpoint", task: task.id, path: `checkpoints/${name}`, description: task.title });
}

/** The main tree with all that is in it. */
function wholeMain({ folder, start, main, objects }: Run): string {
  if (!folder.isDelta) return folder.main;
  const whole = join(folder.scratch, "whole");
  removeFolder(whole);
  copyFolder(folder.base, whole);
  objects.apply(whole, compareTrees(start, main));
  return whole;
}
