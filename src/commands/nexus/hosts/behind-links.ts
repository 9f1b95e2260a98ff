// People keep their settings in a folder of their own and link to them, and CLAUDE.md to AGENTS.md. A link is followed, so that
// it stays one: writing replaces what it leads to.
import { existsSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, relative, resolve, sep } from "node:path";
import { NutError, shellWord } from "../../../errors.js";
import type { InstallFile, InstallInput } from "../../../hosts/index.js";

/** The files of a set-up as they lie. Refuses links that lead nowhere, and those of a project that lead out of it. */
export function behindLinks(
  files: readonly InstallFile[],
  { scope, root }: Pick<InstallInput, "scope" | "root">,
): InstallFile[] {
  return files.map((file) => {
    const path = followed(file.path);
    if (path === file.path) return file;
    // Whoever made the project made the link: it must not choose which of the person's files we write to.
    if (scope === "project" && !isInside(path, root)) throw leadsOut(file.path, path);
    return { ...file, path };
  });
}

function followed(path: string): string {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return path;
  if (!existsSync(path))
    throw new NutError("FILE_UNREADABLE", `${path} is a link that leads nowhere`, {
      hint: `rm ${shellWord(path)}`,
      data: { path },
    });
  // Something is there, so this ends.
  return followed(resolve(dirname(path), readlinkSync(path)));
}

function isInside(path: string, root: string): boolean {
  const way = relative(realpathSync(root), realpathSync(path));
  const [first] = way.split(sep);
  return !isAbsolute(way) && first !== ".." && first !== ".git";
}

const leadsOut = (path: string, target: string) =>
  new NutError(
    "HOST_SETTINGS_INVALID",
    `${path} is a link to ${target}, which is not the project's; nothing was changed`,
    {
      hint: `put a file in its place: cat ${shellWord(path)} >${shellWord(`${path}.own`)} && mv ${shellWord(`${path}.own`)} ${shellWord(path)}`,
      data: { path, target },
    },
  );
