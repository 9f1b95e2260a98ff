// Work that does nothing, always the same, or says every word there is: a check that takes it for done is too weak.
import type { TreeView } from "../runners/runner.js";
import { maskText } from "./text/mask.js";

export interface StandIn {
  /** Such as `functions that return 0`. */
  readonly name: string;
  readonly files: ReadonlyMap<string, Uint8Array>;
}

interface Constant {
  readonly name: string;
  readonly javascript: string;
  readonly python: string;
}

const CONSTANTS: readonly Constant[] = [
  { name: "nothing", javascript: "undefined", python: "None" },
  { name: "0", javascript: "0", python: "0" },
  { name: "an empty text", javascript: '""', python: '""' },
  { name: "true", javascript: "true", python: "True" },
];

/** Paths of the work itself; those in a language nobody reads here become empty. `words` is all that checks could look for. */
export function standIns(view: TreeView, subjectPaths: readonly string[], words = ""): readonly StandIn[] {
  const texts = subjectPaths.flatMap((path) => {
    const text = view.read(path);
    return text === null ? [] : [{ path, text }];
  });
  if (texts.length === 0) return [];
  const made = (name: string, write: (path: string, text: string) => string | null): StandIn[] => {
    const files = new Map(
      texts.flatMap(({ path, text }) => {
        const other = write(path, text);
        return other === null || other === text ? [] : [[path, Buffer.from(other)] as const];
      }),
    );
    return files.size === 0 ? [] : [{ name, files }];
  };
  return [
    ...made("empty files", (_, text) => (text.startsWith("#!") ? `${text.split("\n")[0]}\n` : "")),
    ...CONSTANTS.flatMap((constant) =>
      made(`functions that return ${constant.name}`, (path, text) => {
        if (/\.[cm]?[jt]sx?$/.test(path)) return constantJavaScript(path, text, constant.javascript);
        return path.endsWith(".py") ? constantPython(text, constant.python) : null;
      }),
    ),
    ...(words === ""
      ? []
      : made("answers that hold every word of the checks", (path, text) => saysAll(path, text, words))),
  ];
}

/** Longer answers than any check reads would only cost time. */
const MOST_WORDS = 64 * 1024;

/** Functions that return every word, programs that print it, servers that answer with it; null in other languages. */
function saysAll(path: string, text: string, words: string): string | null {
  const all = JSON.stringify(words.slice(0, MOST_WORDS));
  const first = text.startsWith("#!") ? `${text.split("\n")[0]}\n` : "";
  if (/\.[cm]?[jt]sx?$/.test(path) || /^#!.*\bnode\b/.test(first)) {
    const functions = constantJavaScript(path, text, all);
    if (functions !== null) return functions;
    return /\.listen\s*\(/.test(text)
      ? `${first}import("node:http").then(({ createServer }) => createServer((_, answer) => answer.end(${all})).listen(Number(process.env.PORT)));\n`
      : `${first}console.log(${all});\n`;
  }
  if (path.endsWith(".py") || /^#!.*\bpython/.test(first)) {
    if (/\bhttp\.server\b/.test(text)) return `${first}${pythonServer(all)}`;
    const functions = constantPython(text, all) ?? "";
    // Whoever is imported prints nothing.
    return functions !== "" && !/__main__/.test(text)
      ? functions
      : `${first}${functions}\nif __name__ == "__main__":\n    print(${all})\n`;
  }
  if (path.endsWith(".sh") || /^#!.*sh\s*$/.test(first))
    return `${first}printf '%s\\n' '${words.slice(0, MOST_WORDS).replaceAll("'", "'\\''")}'\n`;
  return null;
}

const pythonServer = (all: string): string => `import http.server, os


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(${all}.encode())

    do_POST = do_GET


http.server.HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Answer).serve_forever()
`;

/** null when it exports nothing. */
function constantJavaScript(path: string, text: string, value: string): string | null {
  const mask = maskText(text, "javascript");
  const any = /tsx?$/.test(path) ? "(...args: any[]): any" : "(...args)";
  const names = [...mask.matchAll(/\bexport\s+(?:async\s+)?(?:function\s*\*?|const|let|class)\s+(\w+)/g)].map(
    (found) => found[1]!,
  );
  for (const [, list] of mask.matchAll(/\bexport\s*\{([^}]*)\}/g)) {
    names.push(
      ...list!
        .split(",")
        .map(
          (part) =>
            part
              .trim()
              .split(/\s+as\s+/)
              .at(-1)!,
        )
        .filter((name) => /^\w+$/.test(name)),
    );
  }
  const lines = [...new Set(names)]
    .filter((name) => name !== "default")
    .map((name) => `export function ${name}${any} { return ${value}; }`);
  if (/\bexport\s+default\b|\bas\s+default\b/.test(mask))
    lines.push(`export default function ${any} { return ${value}; }`);
  const commonjs = [...mask.matchAll(/\bexports\.(\w+)\s*=/g)].map((found) => found[1]!);
  const object = /\bmodule\.exports\s*=\s*\{([^}]*)\}/.exec(mask)?.[1];
  if (object !== undefined)
    commonjs.push(
      ...object
        .split(",")
        .map((part) => part.trim().split(/[\s:(]/)[0]!)
        .filter((name) => /^\w+$/.test(name)),
    );
  if (lines.length === 0 && /\bmodule\.exports\s*=/.test(mask)) lines.push(`module.exports = ${any} => ${value};`);
  lines.push(...[...new Set(commonjs)].map((name) => `module.exports.${name} = ${any} => ${value};`));
  return lines.length === 0 ? null : `${lines.join("\n")}\n`;
}

function constantPython(text: string, value: string): string | null {
  const names = [...maskText(text, "python").matchAll(/^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)/gm)].map(
    (found) => found[1]!,
  );
  if (names.length === 0) return null;
  return `${[...new Set(names)].map((name) => `def ${name}(*args, **named):\n    return ${value}\n`).join("\n")}`;
}
