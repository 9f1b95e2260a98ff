// How our sources become JavaScript, for every program and face we ship.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { pastFaces } from "./past-faces.mjs";

export const root = fileURLToPath(new URL("..", import.meta.url));
export const manifest = JSON.parse(readFileSync(`${root}package.json`, "utf8"));
export const { version, dependencies = {}, bin } = manifest;

/** Our texts are our own: zod's forty translations of its messages are a third of a megabyte that every start would parse. */
const oneLanguage = {
  name: "one-language",
  setup({ onLoad }) {
    onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
      resolveDir: `${root}node_modules/zod/v4/locales`,
    }));
  },
};

/** The MCP server checks its own arguments; the SDK's JSON Schema compiler would only be parsed, never called. */
const noSchemaCompiler = {
  name: "no-schema-compiler",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^@modelcontextprotocol\/server\/_shims$/ }, () => ({ path: "shims", namespace: "mcp" }));
    onLoad({ filter: /.*/, namespace: "mcp" }, () => ({
      contents: 'export { default as process } from "node:process"; export class DefaultJsonSchemaValidator {}',
    }));
  },
};

export const shared = {
  plugins: [oneLanguage, noSchemaCompiler],
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node20.19",
  // zod is a dependency for the types of the library faces; our own code carries what it uses of it, which starts faster.
  external: Object.keys(dependencies).filter((name) => name !== "zod"),
  define: { __VERSION__: JSON.stringify(version) },
  loader: { ".md": "text" },
  // Its "main" is a UMD file whose requires no bundler can follow.
  alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" },
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
};

/** Bundled CommonJS packages call require() for Node's own modules. */
export const requireForPackages = { js: "const require=(name)=>process.getBuiltinModule(name);" };

/** Leaves modules of these names out of a bundle: they lie beside it, and are read when it asks for them. */
export const readLater = (names) => ({
  name: "read-later",
  setup({ onResolve }) {
    onResolve({ filter: new RegExp(`/(?:${names.join("|")})\\.js$`) }, ({ path }) => ({
      path: `./${path.slice(path.lastIndexOf("/") + 1)}`,
      external: true,
    }));
  },
});

/** The faces a library user may import: the export of package.json → its source. */
export const faces = {
  acceptance: "src/acceptance/index.ts",
  bundle: "src/bundle/index.ts",
  harness: "src/harness.ts",
  vault: "src/vault/index.ts",
};

/** Everything Node runs, split into parts. They become CommonJS and load each other late: see late-loading.mjs. */
export const programs = {
  ...shared,
  plugins: [...shared.plugins, pastFaces(["acceptance", "broker", "bundle", "vault"])],
  entryPoints: {
    nutshell: "src/commands/nutshell/main.ts",
    nexus: "src/commands/nexus/main.ts",
    "demo-agent": "src/run/demo/agent.ts",
    ...Object.fromEntries(Object.entries(faces).map(([name, path]) => [`lib/${name}`, path])),
  },
  // For the chunk it makes, not for what it does: it has no effects, which is what the silenced warning says.
  inject: ["src/cli/base.ts"],
  logOverride: { "ignored-bare-import": "silent" },
  outdir: "dist",
  format: "esm",
  splitting: true,
  chunkNames: "chunks/[name]-[hash]",
};

/**
 * What a host starts for every tool call, apart from the rest: the gate is one small file that reaches for the other only
 * when it must. Were they split by the bundler, the gate would load whatever the two share, schemas included. The same holds
 * for what an agent in a sandbox starts to reach its tools.
 */
export const hooks = {
  ...shared,
  entryPoints: {
    "hook/hook": "src/hook/entry.ts",
    "hook/opencode-plugin": "src/hook/opencode-plugin.ts",
    relay: "src/mcp/relay-main.ts",
  },
  minifyIdentifiers: true,
  outdir: "dist",
  format: "esm",
  plugins: [readLater(["full"])],
};

export const hookRest = {
  ...shared,
  entryPoints: { full: "src/session/full.ts" },
  minifyIdentifiers: true,
  outdir: "dist/hook",
  format: "esm",
  splitting: true,
  chunkNames: "[name]-[hash]",
  banner: requireForPackages,
};

/** The process that holds secrets: one file, so that nothing of the rest is in its memory. */
export const broker = {
  ...shared,
  entryPoints: { broker: "src/broker/main.ts" },
  outdir: "dist",
  format: "esm",
  banner: requireForPackages,
};

/** One file, which starts sooner than many, and without Node's loader of ES modules. */
const thread = {
  ...shared,
  minifyIdentifiers: true,
  outdir: "dist",
  outExtension: { ".js": ".cjs" },
  format: "cjs",
};

/** The thread that hashes and scans what is packed. */
export const look = {
  ...thread,
  plugins: [...shared.plugins, pastFaces(["bundle", "vault"])],
  entryPoints: { look: "src/request/pack/look-thread.ts" },
};

/** The thread that writes what is unpacked. */
export const write = { ...thread, entryPoints: { write: "src/bundle/read/write-thread.ts" } };

/** The pages of the viewer and the board, for the browser. */
export const pages = {
  absWorkingDir: root,
  bundle: true,
  platform: "browser",
  target: ["chrome110", "firefox115", "safari16.4"],
  entryPoints: {
    viewer: "src/web/page/viewer.tsx",
    board: "src/web/page/board.tsx",
    layout: "src/web/page/board/layout.ts",
    formatter: "src/web/page/format/worker.ts",
    style: "src/web/page/style.css",
  },
  outdir: "dist/web",
  format: "esm",
  jsx: "automatic",
  jsxImportSource: "preact",
  minify: true,
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
};

export const builds = [programs, hooks, hookRest, broker, look, write, pages];
