// Imports that lead past the faces of some folders. The bundler decides file by file what a command loads: importing one name from
// an index.ts would load all that stands behind it, and importing `z` all of zod. Here every name is imported from where it is made.
// For all folders it would make more files than it saves: each costs a start half a millisecond.
import { readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";

export const pastFaces = (folders) => ({
  name: "past-faces",
  setup({ onLoad }) {
    const faces = new RegExp(`^import \\{([^}]*)\\} from "(\\.[^"]*/(?:${folders.join("|")})/index\\.js)";$`, "gm");
    onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => ({ contents: rewritten(path, faces), loader: "ts" }));
  },
});

function rewritten(path, faces) {
  return readFileSync(path, "utf8")
    .replace(/^import \{ z \} from "zod";$/m, 'import * as z from "zod";')
    .replace(faces, (_, list, from) => {
      const face = sourceOf(path, from);
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

const known = new Map();
function behind(face) {
  if (known.has(face)) return known.get(face);
  const text = readFileSync(face, "utf8");
  const made = [...text.matchAll(/^export \{([^}]*)\} from "(\.[^"]+)";$/gm)].flatMap(([, list, from]) =>
    names(list).map(({ name, as }) => [as, { made: name, file: sourceOf(face, from) }]),
  );
  known.set(face, new Map(made));
  return known.get(face);
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
