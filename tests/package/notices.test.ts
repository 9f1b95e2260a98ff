import { readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { builds } from "../../scripts/bundling.mjs";
import { root } from "./installed.js";

/** Licences that let their work be carried along by a MIT package. */
const WELCOME = /^(MIT|ISC|BSD-[23]-Clause|Apache-2\.0|0BSD|Unlicense|CC0-1\.0|BlueOak-1\.0\.0)$/;

interface Carried {
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

/** The packages with at least one byte in dist, found without the script that writes the notices. */
let carried: readonly Carried[];

beforeAll(async () => {
  const results = await Promise.all(builds.map((options) => build({ ...options, write: false, metafile: true })));
  const used = results.flatMap(({ metafile }) =>
    Object.values(metafile.outputs).flatMap(({ inputs }) =>
      Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
    ),
  );
  const folders = used.flatMap((path) => /.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? []);
  carried = [...new Set(folders)].map((folder) => JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")));
});

describe("third-party notices", () => {
  it("name the licence of every package whose code is in dist", () => {
    const text = readFileSync(join(root, "THIRD_PARTY_NOTICES.md"), "utf8");
    const named = [...text.matchAll(/^## (\S+) (\d\S*) \((.+)\)$/gm)].map(([, name, version, license]) => ({
      name,
      version,
      license,
    }));
    const missing = carried.filter(
      ({ name, version }) => !named.some((row) => row.name === name && row.version === version),
    );
    expect(missing.map(({ name }) => name)).toEqual([]);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter(({ license }) => !WELCOME.test(license!))).toEqual([]);
  });
});

const Purl = z.string().regex(/^pkg:npm\/(?:%40[a-z0-9._-]+\/)?[a-z0-9._-]+@\d+\.\d+\.\d+[0-9A-Za-z.+-]*$/);
const Component = z.strictObject({
  type: z.enum(["application", "library"]),
  "bom-ref": Purl,
  group: z.string().startsWith("@").optional(),
  name: z.string().min(1),
  version: z.string().min(1),
  licenses: z.tuple([
    z.union([
      z.strictObject({ license: z.strictObject({ id: z.string() }) }),
      z.strictObject({ expression: z.string() }),
    ]),
  ]),
  purl: Purl,
});
/** The part of CycloneDX 1.6 that we write. */
const Bill = z.strictObject({
  $schema: z.literal("http://cyclonedx.org/schema/bom-1.6.schema.json"),
  bomFormat: z.literal("CycloneDX"),
  specVersion: z.literal("1.6"),
  version: z.literal(1),
  metadata: z.strictObject({
    lifecycles: z.tuple([z.strictObject({ phase: z.literal("build") })]),
    component: Component,
  }),
  components: z.array(Component),
  dependencies: z.array(z.strictObject({ ref: Purl, dependsOn: z.array(Purl).optional() })),
});

describe("the bill of materials", () => {
  it("lists every package whose code is in dist, with version, licence and address", () => {
    const { metadata, components, dependencies } = Bill.parse(
      JSON.parse(readFileSync(join(root, "sbom.cdx.json"), "utf8")),
    );
    expect(metadata.component).toMatchObject({ type: "application", name: "nutcracker" });
    const listed = components.map(({ group, name, version, licenses: [licence], purl, ...rest }) => {
      const full = group === undefined ? name : `${group}/${name}`;
      expect([purl, rest["bom-ref"]]).toEqual(Array(2).fill(`pkg:npm/${full.replace("@", "%40")}@${version}`));
      return { name: full, version, license: "license" in licence ? licence.license.id : licence.expression };
    });
    const byName = (a: Carried, b: Carried) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1);
    const expected = carried.map(({ name, version, license }) => ({ name, version, license }));
    expect(listed.sort(byName)).toEqual(expected.sort(byName));
    const refs = components.map(({ purl }) => purl);
    expect(dependencies).toEqual([{ ref: metadata.component.purl, dependsOn: refs }, ...refs.map((ref) => ({ ref }))]);
  });
});
