// Puts a build into dist/ under programs that run from it. Every file is replaced by a rename, and what others load by
// name comes last: whoever starts meanwhile gets one build or the other, never a half. A running program may load a part
// it has not needed yet, so parts of an earlier build stay until nobody can want them.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { root } from "./bundling.mjs";

/** No command of a test runs for longer. */
const KEPT_MS = 15 * 60_000;
/** A part whose name changes with its content. */
const isPart = (path) => /-[A-Z0-9]{8}\.c?js$/.test(path);

/** Returns what was put: path under the root → [size, time]. Files that have not changed are not touched. */
export function putInPlace(files, draft) {
  const order = [...files].sort((a, b) => Number(isPart(b.path)) - Number(isPart(a.path)));
  const put = order.map(({ path, contents }, index) => {
    const bytes = Buffer.from(contents);
    if (!holds(path, bytes)) {
      const fresh = join(draft, String(index));
      writeFileSync(fresh, bytes);
      mkdirSync(dirname(path), { recursive: true });
      renameSync(fresh, path);
    }
    const { size, mtimeMs } = statSync(path);
    return [relative(root, path), [size, mtimeMs]];
  });
  return Object.fromEntries(put);
}

function holds(path, bytes) {
  try {
    return readFileSync(path).equals(bytes);
  } catch {
    return false;
  }
}

/** Returns what is left over and since when: path under the root → time. */
export function removeLeftovers({ files, types, leftovers }, { exact }) {
  const kept = {};
  for (const path of filesOfDist()) {
    if (path in files || (!types && path.startsWith("dist/types/"))) continue;
    const since = leftovers[path] ?? Date.now();
    if (exact || Date.now() - since > KEPT_MS) rmSync(join(root, path), { force: true });
    else kept[path] = since;
  }
  return kept;
}

function filesOfDist() {
  return readdirSync(join(root, "dist"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)));
}
