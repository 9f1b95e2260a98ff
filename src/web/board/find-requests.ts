// Requests a person may want to run: bundles and folders near the top of the project, and those that were run before.
import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { MANIFEST_NAME } from "../../bundle/index.js";
import { RunReader, runIds, runsFolder } from "../../run/index.js";
import { manifestOf, type Told } from "../view/find-request.js";
import type { RequestRow } from "./model.js";

const MOST = 40;
const DEEPEST = 2;
const PASSED_BY = /^(?:\.|node_modules$|dist$|target$|vendor$)/;

export async function findRequests(root: string): Promise<RequestRow[]> {
  const rows = new Map<string, RequestRow>();
  for (const path of candidates(root)) {
    const manifest = await manifestOf(join(root, path));
    if (manifest?.bundle_type === "request") rows.set(path, { path, title: titleOf(manifest) });
  }
  const runs = runsFolder(root);
  for (const id of runIds(runs).slice(-MOST)) {
    const { options } = new RunReader(runs, id).read();
    if (options === null) continue;
    const inside = relative(root, options.request);
    const path = inside.startsWith("..") || inside === "" ? options.request : inside;
    if (!rows.has(path) && lstatSync(options.request, { throwIfNoEntry: false }) !== undefined)
      rows.set(path, { path, title: options.title });
  }
  return [...rows.values()];
}

/** Bundles, and folders with a manifest. */
function candidates(root: string): string[] {
  const found: string[] = [];
  const visit = (folder: string, depth: number) => {
    for (const entry of entriesIn(join(root, folder))) {
      if (found.length >= MOST) return;
      if (PASSED_BY.test(entry.name)) continue;
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isFile() && entry.name.endsWith(".nut")) found.push(path);
      if (entry.isFile() && entry.name === MANIFEST_NAME) found.push(folder === "" ? "." : folder);
      if (entry.isDirectory() && depth < DEEPEST) visit(path, depth + 1);
    }
  };
  visit("", 0);
  return found;
}

function entriesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

const titleOf = ({ task, id }: Told) => String(task?.title ?? id ?? "").slice(0, 300);
