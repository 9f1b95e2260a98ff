// `nutshell export --harbor`.
import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { listFolder } from "../../../bundle/index.js";
import { NutError, shellWord } from "../../../errors.js";
import type { Context } from "../../../operation.js";
import { harborTask } from "../../../request/export/harbor.js";
import { writeHarbor } from "../../../request/export/write-harbor.js";
import { openFolder, withWorkFolder } from "../../../request/open/work-folder.js";

interface Asked {
  readonly bundles: readonly string[];
  readonly output: string | undefined;
  readonly harbor: boolean;
  readonly image: string | undefined;
}

export async function exportHarbor({ bundles, output, harbor, image }: Asked, context: Context) {
  const [request] = bundles;
  if (!harbor || request === undefined || bundles.length > 1) {
    throw new NutError("USAGE", harbor ? "--harbor takes one request" : "--image goes with --harbor", {
      hint: "nutshell export task.nut --harbor -o task",
    });
  }
  const name = basename(resolve(context.cwd, request)).replace(/\.nut$/, "");
  const path = resolve(context.cwd, output ?? `${name}-harbor`);
  if (existsSync(path)) {
    throw new NutError("FILE_EXISTS", `${path} is there already`, {
      hint: `nutshell export ${shellWord(request)} --harbor -o ${shellWord(`${path}-2`)}`,
    });
  }
  return withWorkFolder(context, async (work) => {
    const { dir, manifest } = await openFolder(request, context, join(work, "request"));
    if (manifest.bundle_type !== "request") {
      throw new NutError("RUN_NOT_A_REQUEST", `this is a ${manifest.bundle_type} bundle, not a request`, {
        hint: "nutshell inspect '<bundle>'",
      });
    }
    const listed = listFolder(dir, { signal: context.signal }).entries;
    const entries = listed.flatMap(({ path: file, kind, executable }) =>
      kind === "file" ? [{ path: file, executable: executable === true }] : [],
    );
    const task = harborTask({ folder: dir, manifest, entries, image });
    writeHarbor(task, dir, path);
    return {
      path,
      files: task.files.length,
      left: 0,
      checks: task.checks,
      image: task.image,
      not_carried_over: task.notCarried.map((each) => ({ ...each })),
    };
  });
}
