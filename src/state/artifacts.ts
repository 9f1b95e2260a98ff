// What agents hand over as files: `.nexus/state/artifacts/`. Names come from models, so they are checked as hostile.
import { lstatSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { NutError } from "../errors.js";
import { atomicWrite, makeFolder, syncFolder } from "../files/index.js";
import type { Project } from "./project.js";

const MAX_CONTENT_BYTES = 16 * 1024 * 1024; // Larger than any report; small enough that one call cannot fill a disk.
const MAX_NAME_BYTES = 255;
const MAX_DEPTH = 8;

export async function writeArtifact(project: Project, filename: string, content: string) {
  const parts = safeName(filename);
  if (Buffer.byteLength(content) > MAX_CONTENT_BYTES) {
    throw new NutError("ARTIFACT_UNSAFE", `an artifact may hold ${MAX_CONTENT_BYTES / 1024 / 1024} MB at most`, {
      hint: "keep what others need and leave the rest in the project",
      data: { filename, limit: MAX_CONTENT_BYTES },
    });
  }
  return project.store.update(() => {
    let folder = project.layout.artifacts;
    makeFolder(folder);
    for (const part of parts.slice(0, -1)) {
      const parent = folder;
      folder = join(folder, part);
      const entry = lstatSync(folder, { throwIfNoEntry: false });
      if (entry === undefined) {
        mkdirSync(folder);
        syncFolder(parent);
      } else if (!entry.isDirectory()) throw unsafe(filename, `"${part}" is not a folder`);
    }
    const path = join(folder, parts.at(-1)!);
    const there = lstatSync(path, { throwIfNoEntry: false });
    if (there !== undefined && !there.isFile()) throw unsafe(filename, "something else has that name");
    atomicWrite(path, content);
    return { success: true, path };
  });
}

/** The parts of a relative path that stays inside the folder on every platform. */
function safeName(filename: string): string[] {
  if (filename === "") throw unsafe(filename, "it is empty");
  if (/[\u0000-\u001f\u007f\\:]/.test(filename)) throw unsafe(filename, "it holds a control character, \\ or :");
  if (filename.startsWith("/")) throw unsafe(filename, "it is absolute");
  const parts = filename.split("/");
  if (parts.length > MAX_DEPTH) throw unsafe(filename, "it is too deep");
  for (const part of parts) {
    if (part === "" || part === "." || part === "..") throw unsafe(filename, "it has an empty, . or .. part");
    if (Buffer.byteLength(part) > MAX_NAME_BYTES) throw unsafe(filename, "it is too long");
    if (/[. ]$/.test(part)) throw unsafe(filename, "a part ends in a dot or a space");
  }
  return parts;
}

function unsafe(filename: string, why: string): NutError {
  return new NutError("ARTIFACT_UNSAFE", `the filename is unsafe: ${why}`, {
    hint: "give a plain name such as findings.md",
    data: { filename: filename.slice(0, 200) },
  });
}
