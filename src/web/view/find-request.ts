// The request a delivery answers, when it is near: beside the delivery, in the folder the viewer was started in, or where a
// run of that project took it from.
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { MANIFEST_NAME, openBundle } from "../../bundle/index.js";
import { RunReader, runIds, runsFolder } from "../../run/index.js";

/** What is read of a manifest that nobody has checked. */
export interface Told {
  readonly bundle_type?: unknown;
  readonly task?: { readonly title?: unknown } | null;
  readonly id?: unknown;
  readonly request_id?: unknown;
}

const MOST = 60;

/** Its path, or null. Only a request with exactly the id the delivery names. */
export async function findRequest(delivery: Told, path: string, cwd: string): Promise<string | null> {
  const wanted = delivery.request_id;
  if (delivery.bundle_type !== "delivery" || typeof wanted !== "string" || wanted === "") return null;
  const folders = [...new Set([dirname(resolve(cwd, path)), cwd])];
  for (const candidate of [...folders.flatMap(inFolder), ...ofRuns(cwd, wanted)]) {
    const manifest = await manifestOf(candidate);
    if (manifest?.bundle_type === "request" && manifest.id === wanted) return candidate;
  }
  return null;
}

function inFolder(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter(
        (entry) =>
          (entry.isFile() && entry.name.endsWith(".nut")) ||
          (entry.isDirectory() && existsSync(join(folder, entry.name, MANIFEST_NAME))),
      )
      .slice(0, MOST)
      .map(({ name }) => join(folder, name));
  } catch {
    return [];
  }
}

function ofRuns(root: string, wanted: string): string[] {
  const runs = runsFolder(root);
  return runIds(runs)
    .slice(-MOST)
    .flatMap((id) => {
      const { options } = new RunReader(runs, id).read();
      return options?.request_id === wanted ? [options.request] : [];
    });
}

/** null for what cannot be read. */
export async function manifestOf(path: string): Promise<Told | null> {
  try {
    if (lstatSync(path).isDirectory()) {
      const file = join(path, MANIFEST_NAME);
      return lstatSync(file).isFile() ? (JSON.parse(readFileSync(file, "utf8")) as Told) : null;
    }
    if (!lstatSync(path).isFile()) return null;
    const bundle = await openBundle(path, { lenient: true, newer: true });
    await bundle.close();
    return bundle.manifest as Told;
  } catch {
    return null;
  }
}
