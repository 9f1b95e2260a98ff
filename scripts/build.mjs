// Bundles the two command lines and the library faces into dist/. Run by `npm ci` (prepare) and `npm run build`.
// Commands are loaded lazily, so code is split into chunks: starting one command never parses another.
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { build } from "esbuild";
import { builds, root } from "./bundling.mjs";
import { bundledPackages, notices } from "./third-party.mjs";

rmSync(`${root}dist`, { recursive: true, force: true });

const metafiles = [];
for (const options of builds) metafiles.push((await build(options)).metafile);
writeFileSync(`${root}THIRD_PARTY_NOTICES.md`, notices(bundledPackages(metafiles, root)));

if (process.argv.includes("--types")) {
  const tsc = spawnSync(process.execPath, [`${root}node_modules/typescript/bin/tsc`, "-p", "tsconfig.types.json"], {
    cwd: root,
    stdio: "inherit",
  });
  process.exitCode = tsc.status ?? 1;
}
