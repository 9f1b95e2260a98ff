// Imports that lead past the faces. The bundler decides file by file what must be loaded: importing one name from a folder's
// index.ts would load all that stands behind it, and importing `z` all of zod. Here every name is imported from where it is made.
import { readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";

export const pastFaces = {
  name: "past-faces",
  setup({ onLoad }) {
    onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => ({ contents: rewritten(path), loader: "ts" }));
  },
};

function rewritten(path) {
  return readFileSync(path, "utf8")
    .replace(/^import \{ z \} from "zod";$/m, 'import * as z from "zod";')
    .replace(/^import \{([^}]*)\} from "(\.[^"]*\/index\.js)";$/gm, (_, list, from) => {
      const face = sourceOf(path, from);
      // On one line each for one: the lines after it keep their numbers.
      const lines = names(list).map(({ name, as }) => {
        const { made, file } = makerOf(face, name);
        return `import { ${made} as ${as} } from "${pathTo(file, path)}";`;
      });
      return lines.join(" ") + "\n".repeat(list.split("\n").length - 1);
    });
}

/** Where a name behind a face is made; the face itself when it is made there. */
function makerOf(face, name) {
  const found = behind(face).get(name);
  if (found === undefined) return { made: name, file: face };
  return found.file.endsWith("/index.ts") ? makerOf(found.file, found.made) : found;
}

const faces = new Map();
function behind(face) {
  if (faces.has(face)) return faces.get(face);
  const text = readFileSync(face, "utf8");
  const made = [...text.matchAll(/^export \{([^}]*)\} from "(\.[^"]+)";$/gm)].flatMap(([, list, from]) =>
    names(list).map(({ name, as }) => [as, { made: name, file: sourceOf(face, from) }]),
  );
  faces.set(face, new Map(made));
  return faces.get(face);
}

/** `a, type B, c as d` without the types, which are gone when the code runs. */
function names(list) {
  const words = list.split(",").map((word) => word.trim());
  return words
    .filter((word) => word !== "" && !word.startsWith("type "))
    .map((word) => {
      const [name, as = name] = word.split(" as ");
      return { name, as };
    });
}

const sourceOf = (importer, path) => resolve(dirname(importer), path.replace(/\.js$/, ".ts"));

function pathTo(file, importer) {
  const path = relative(dirname(importer), file).replace(/\.ts$/, ".js");
  return path.startsWith(".") ? path : `./${path}`;
}
