// Bundles the two command lines and the library faces into dist/. Run by `npm ci` (prepare), `npm run build` and the tests.
// Commands are loaded lazily, so code is split into chunks: starting one command never parses another.
//   --types  also writes the declarations of the library faces
//   --exact  leaves nothing of an earlier build, as a package must be; without it, what a running program may still load
//            stays for a while
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { isFresh, newStamp, oneAtATime, readStamp, writeStamp } from "./build-stamp.mjs";
import { builds, faces, manifest, programs, root } from "./bundling.mjs";
import { loadedLate } from "./late-loading.mjs";
import { putInPlace, removeLeftovers } from "./put-in-place.mjs";
import { billOfMaterials, bundledPackages, notices } from "./third-party.mjs";

const wantsTypes = process.argv.includes("--types");
const exact = process.argv.includes("--exact");
const draft = join(root, `.cache/build/draft-${process.pid}`);

await oneAtATime(async () => {
  const stamp = isFresh({ types: wantsTypes }) ? readStamp() : await rebuild(newStamp({ types: wantsTypes }));
  writeStamp({ ...stamp, leftovers: removeLeftovers(stamp, { exact }) });
});

async function rebuild(stamp) {
  mkdirSync(draft, { recursive: true });
  try {
    const [bundled, declared] = await Promise.all([bundle(), wantsTypes ? declarations() : []]);
    return { ...stamp, files: putInPlace([...bundled, ...declared], draft) };
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Every file of the bundles, and what is told about them. */
async function bundle() {
  const results = await Promise.all(builds.map((options) => build({ ...options, write: false })));
  const packages = bundledPackages(
    results.map(({ metafile }) => metafile),
    root,
  );
  return [
    ...(await Promise.all(results.map(filesOf))).flat(),
    { path: `${root}THIRD_PARTY_NOTICES.md`, contents: notices(packages) },
    { path: `${root}sbom.cdx.json`, contents: billOfMaterials(packages, manifest) },
  ];
}

/** In the order of `builds`. */
function filesOf(result, index) {
  return builds[index] === programs ? loadedLate(result, programs) : result.outputFiles;
}

async function declarations() {
  const folder = join(draft, "types");
  const args = [`${root}node_modules/typescript/bin/tsc`, "-p", "tsconfig.types.json", "--outDir", folder];
  const tsc = spawn(process.execPath, args, { cwd: root, stdio: "inherit" });
  const status = await new Promise((resolve) => tsc.once("close", resolve));
  if (status !== 0) throw new Error(`the declarations could not be written: tsc ended with ${status}`);
  return [...needed(folder)].map(([path, contents]) => ({ path: join(root, "dist/types", path), contents }));
}

/** The declarations that can be reached from the faces. Nobody could import the others, which are a quarter of all bytes. */
function needed(folder) {
  const found = new Map();
  const waiting = Object.values(faces).map((source) => source.replace(/^src\/(.*)\.ts$/, "$1.d.ts"));
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path)) continue;
    const text = readFileSync(join(folder, path), "utf8");
    found.set(path, text);
    for (const [, to] of text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)\.js"/g))
      waiting.push(join(dirname(path), `${to}.d.ts`));
  }
  return found;
}
