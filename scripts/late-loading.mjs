// Makes CommonJS of the bundler's parts, which are ES modules, and has each load what it imports when it is first used. An ES
// module must load and run all it imports before its first line: for `nexus run` that was a hundred files, most of them for nothing.
// Our modules do nothing when they are loaded ("sideEffects": false), so when that happens changes nothing else.
import { readFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { transform } from "esbuild";
import { root } from "./bundling.mjs";

const LATER = "later.cjs";

/** The files of a build with `splitting`, made with `write: false`; a face of the library stays an ES module in front of its part. */
export async function loadedLate({ outputFiles, metafile }, { outdir }) {
  const folder = resolve(root, outdir);
  const parts = outputFiles.map(({ path, text }) => {
    const { imports, exports, inputs } = metafile.outputs[relative(root, path)];
    const isOthers = Object.keys(inputs).every((input) => input.startsWith("node_modules/"));
    return { name: relative(folder, path).replaceAll("\\", "/"), text, imports, exports, isOthers };
  });
  const files = await Promise.all(parts.map((part) => commonJs(part, folder)));
  const faces = parts.filter(({ name }) => name.startsWith("lib/")).map(faceOf);
  const own = [LATER, "compiled.cjs"].map((name) => ({ name, contents: readFileSync(join(root, "scripts", name)) }));
  return [...files, ...faces, ...own].map(({ name, contents }) => ({ path: join(folder, name), contents }));
}

const faceOf = ({ name, exports }) => ({
  name,
  contents: `import face from "./${basename(commonName(name))}";\nexport const { ${exports.join(", ")} } = face;\n`,
});

/** What `part` of later.cjs takes. */
const partName = (name) => name.replace(/^chunks\//, "").replace(/\.js$/, "");

const commonName = (name) => name.replace(/\.js$/, ".cjs");

async function commonJs({ name, text, imports, isOthers }, folder) {
  const late = imports
    .filter(({ kind, external }) => kind === "dynamic-import" && !external)
    .reduce((code, { path }) => partsLater(code, relative(folder, resolve(root, path))), text);
  const { code } = await transform(late, { ...AS, define: { "import.meta.url": "part$url" } });
  // Names in packages tell us little when something fails there.
  const small = { minifySyntax: true, minifyWhitespace: true, minifyIdentifiers: isOthers, treeShaking: true };
  const { code: contents } = await transform(linked(code), { ...AS, ...small });
  const way = name.includes("/") ? ".." : ".";
  const head = `"use strict";const{later,latePart,exporting,part,keepParts}=require("${way}/${LATER}");`;
  return { name: commonName(name), contents: head + contents };
}

const AS = { format: "cjs", target: "node20.19" };

/** `import("./x.js")` of a part, which would start Node's loader of ES modules. */
function partsLater(text, name) {
  const written = new RegExp(`\\bimport\\("\\.[^"]*/${basename(name)}"\\)`, "g");
  return text.replaceAll(written, `Promise.resolve().then(()=>part("${partName(name)}"))`);
}

const EXPORTS = /^__export\w*\(stdin_exports, (\{[^}]*\})\);\nmodule\.exports = __toCommonJS\w*\(stdin_exports\);$/m;
const IMPORT = /^var (import_\w+) = (.*require\("[^"]+"\).*);$/gm;
const URL_OF_MODULE = 'const part$url = require("node:url").pathToFileURL(__filename).href;\n';

/** What the transform wrote at the top of each part, in our way. */
function linked(code) {
  const short = new Map([...code.matchAll(IMPORT)].map(([, name], index) => [name, `part$${index}`]));
  const late = code
    .replace(EXPORTS, "exporting(module, $1);")
    .replace(/\bimport_\w+\b(?! = )/g, (name) => (short.has(name) ? `${short.get(name)}.$` : name))
    .replace(IMPORT, (_, name, loaded) => `var ${short.get(name)} = /* @__PURE__ */ ${lateOf(loaded)};`);
  return late.includes("part$url") ? URL_OF_MODULE + late : late;
}

/** `loaded` is `require("./chunk-X.js")`, `require("../lib/x.js")`, or one of Node's own modules in any dress. */
function lateOf(loaded) {
  const name = /^require\("\.[^"]*?((?:lib\/)?[^"/]+\.js)"\)$/.exec(loaded)?.[1];
  if (name === undefined) return `later(() => ${loaded})`;
  return `latePart("${partName(name.includes("/") ? name : `chunks/${name}`)}")`;
}
