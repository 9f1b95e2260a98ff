// What the last build was made from and what it made, so that a build of the same is no work and two never run at once.
import { createHash } from "node:crypto";
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { root } from "./bundling.mjs";

const folder = join(root, ".cache/build");
const path = join(folder, "stamp.json");

/** Everything a build's result can depend on. The last of them says which packages are installed. */
const INPUTS = [
  "src",
  ...["build", "build-stamp", "bundling", "late-loading", "past-faces", "put-in-place", "third-party"].map(
    (name) => `scripts/${name}.mjs`,
  ),
  ...["scripts/later.cjs", "scripts/compiled.cjs"],
  "package.json",
  "tsconfig.json",
  "tsconfig.types.json",
  "node_modules/.package-lock.json",
];

function inputDigest() {
  const digest = createHash("sha256").update(process.version);
  for (const file of INPUTS.flatMap((name) => filesIn(name)))
    digest.update(`\n${file}\n`).update(readFileSync(join(root, file)));
  return digest.digest("hex");
}

function filesIn(name) {
  const stat = statSync(join(root, name), { throwIfNoEntry: false });
  if (stat === undefined) return [];
  if (stat.isFile()) return [name];
  return readdirSync(join(root, name), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
    .map(({ parentPath, name: own }) => join(parentPath, own).slice(root.length))
    .sort();
}

/** `inputs` digest, whether it has types, `files` (path → [size, time]) and `leftovers` (path → since when). */
export function readStamp() {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return { inputs: "", types: false, files: {}, leftovers: {} };
  }
}

export function writeStamp(stamp) {
  writeFileSync(`${path}.new`, JSON.stringify(stamp));
  renameSync(`${path}.new`, path);
}

/** A stamp for files just made; taken before they are, because a source may change while it is being built. */
export function newStamp({ types }) {
  return { inputs: inputDigest(), types, files: {}, leftovers: readStamp().leftovers };
}

export function isFresh({ types }) {
  const stamp = readStamp();
  if (stamp.inputs !== inputDigest() || (types && !stamp.types)) return false;
  return Object.entries(stamp.files).every(([file, [size, time]]) => {
    const now = statSync(join(root, file), { throwIfNoEntry: false });
    return now?.size === size && now.mtimeMs === time;
  });
}

/** The kernel ends the lock with its process. Where its addon does not load, two builds do the same work twice. */
export async function oneAtATime(work) {
  mkdirSync(folder, { recursive: true });
  const file = openSync(join(folder, "lock"), "a");
  try {
    await kernelLock()?.waitForLock(file);
    await work();
  } finally {
    closeSync(file);
  }
}

function kernelLock() {
  try {
    return createRequire(import.meta.url)("fs-native-extensions");
  } catch {
    return null;
  }
}
