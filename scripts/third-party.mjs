// What of other people's work is inside dist/, and under which licence. Read from the bundler's own account of its
// inputs, so a package that is bundled cannot be forgotten.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Folders of the packages with at least one byte in an output, sorted by name. */
export function bundledPackages(metafiles, root) {
  const folders = new Set();
  for (const { outputs } of metafiles) {
    for (const { inputs } of Object.values(outputs)) {
      for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
        const folder = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path.replace(/^[a-z-]+:/, ""))?.[0];
        if (folder !== undefined && bytesInOutput > 0) folders.add(folder);
      }
    }
  }
  const described = [...folders].map((folder) => describe(join(root, folder)));
  // One version may be installed in two places.
  return [...new Map(described.map((one) => [one.id, one])).values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

function describe(folder) {
  const { name, version, license, author } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)([.-].*)?$/i.test(file));
  const texts = files.sort().map((file) => readFileSync(join(folder, file), "utf8").replaceAll("\r\n", "\n").trim());
  return { id: `${name} ${version}`, name, version, license, author: author?.name ?? author, text: texts.join("\n\n") };
}

/** One section per package. A package without a licence file is named with what its package.json says. */
export function notices(packages) {
  const sections = packages.map(({ id, license, author, text }) => {
    const own =
      text === "" ? `Licence: ${license}. Author: ${author ?? "not named"}.` : `\`\`\`\`text\n${text}\n\`\`\`\``;
    return `## ${id} (${license})\n\n${own}\n`;
  });
  return [
    "# Third-party notices\n",
    "Nutcracker carries parts of these packages in its own files, each under its own licence.\n",
    ...sections,
  ].join("\n");
}

/** The same list for programs: a CycloneDX document, because `npm audit` sees no package that was bundled. */
export function billOfMaterials(packages, own) {
  const application = { type: "application", ...component(own) };
  const components = packages.map((one) => ({ type: "library", ...component(one) }));
  const document = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { lifecycles: [{ phase: "build" }], component: application },
    components,
    dependencies: [
      { ref: application.purl, dependsOn: components.map(({ purl }) => purl) },
      ...components.map(({ purl }) => ({ ref: purl })),
    ],
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function component({ name, version, license }) {
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const [own, group] = name.split("/").reverse();
  const licence = / |\(/.test(license) ? { expression: license } : { license: { id: license } };
  return { "bom-ref": purl, ...(group === undefined ? {} : { group }), name: own, version, licenses: [licence], purl };
}
