import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";
import { builds } from "../../scripts/bundling.mjs";
import { root } from "./installed.js";

/** Licences that let their work be carried along by a MIT package. */
const WELCOME = /^(MIT|ISC|BSD-[23]-Clause|Apache-2\.0|0BSD|Unlicense|CC0-1\.0|BlueOak-1\.0\.0)$/;

describe("third-party notices", () => {
  it("name the licence of every package whose code is in dist", async () => {
    const results = await Promise.all(builds.map((options) => build({ ...options, write: false, metafile: true })));
    const inputs = results.flatMap(({ metafile }) => Object.keys(metafile.inputs));
    const carried = new Set(
      inputs.flatMap((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []).filter(Boolean),
    );
    const text = readFileSync(join(root, "THIRD_PARTY_NOTICES.md"), "utf8");
    const named = [...text.matchAll(/^## (\S+) \d\S* \((.+)\)$/gm)].map(([, name, licence]) => ({ name, licence }));
    // Inputs that were dropped as unused need no notice; nothing else may be missing.
    const missing = [...carried].filter((name) => !named.some((row) => row.name === name));
    const used = results.flatMap(({ metafile }) =>
      Object.values(metafile.outputs).flatMap(({ inputs: parts }) =>
        Object.entries(parts).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
      ),
    );
    expect(missing.filter((name) => used.some((path) => path.includes(`node_modules/${name}/`)))).toEqual([]);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter(({ licence }) => !WELCOME.test(licence!))).toEqual([]);
  });
});
