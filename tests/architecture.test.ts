import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const source = fileURLToPath(new URL("../src", import.meta.url));

// Which folder may import which. A red test asks for a decision: change the code, or this table and ARCHITECTURE.md.
const base = ["errors", "version", "operation", "schema", "files", "process", "trees"];
const parts = [
  "bundle",
  "vault",
  "acceptance",
  "state",
  "catalog",
  "events",
  "hosts",
  "drivers",
  "market",
  "statements",
  "registry",
];
const middle = ["request", "session", "import"];
const doors = ["mcp", "web", "hook"];
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  version: [],
  operation: [],
  schema: ["schema"],
  files: ["errors", "files"],
  process: ["errors", "files", "process"],
  trees: ["errors", "files", "process", "trees"],
  ...Object.fromEntries(parts.map((part) => [part, [...base, part]])),
  // It lends what the vault holds.
  broker: [...base, "vault", "broker"],
  ...Object.fromEntries(middle.map((room) => [room, [...base, ...parts, "broker", room]])),
  run: [...base, ...parts, "broker", ...middle, "run"],
  fleet: [...base, ...parts, "broker", ...middle, "run", "fleet"],
  scorecard: [...base, "scorecard"],
  traces: [...base, "traces"],
  tools: [...base, "state", "catalog", "session", "tools"],
  mcp: [...base, "tools", "mcp"],
  web: [...base, ...parts, ...middle, "run", "tools", "web"],
  hook: [...base, "events", "hosts", "session", "hook"],
  cli: [...base, "cli"],
  commands: [
    ...base,
    ...parts,
    "broker",
    ...middle,
    "run",
    "fleet",
    "scorecard",
    "traces",
    "tools",
    ...doors,
    "cli",
    "commands",
  ],
  harness: [...base, ...parts, "tools", "commands"],
};

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !/\.test\.tsx?$/.test(name))
    .map((name) => join(folder, name));
}

const room = (file: string) =>
  relative(source, file)
    .split("/")[0]!
    .replace(/\.[jt]s$/, "");
const IMPORTS = /(?:from|import)\s*\(?\s*"(\.[^"]+)"/g;

const PLAIN_RENAMES = [
  "acceptance/install/make-layer.ts",
  "acceptance/line-programs.ts",
  "bundle/read/unpack-bundle.ts",
  "commands/nexus/fleet/work.ts",
  "commands/nutshell/bundle/init.ts",
  "commands/nutshell/market/claim.ts",
  "files/foreign-folder.ts",
  "files/rename-over.ts",
  "request/export/write-harbor.ts",
  "request/finish/finish-work.ts",
  "request/finish/work-changes.ts",
  "request/install/cache.ts",
  "request/pack/new-folder.ts",
  "run/open/workspace.ts",
  "run/record/prune.ts",
  "session/lookout.ts",
  "trees/tree-guard.ts",
];

describe("architecture", () => {
  it("keeps imports pointing one way", () => {
    const wrong: string[] = [];
    for (const file of sources(source)) {
      for (const [, target] of readFileSync(file, "utf8").matchAll(IMPORTS)) {
        const to = room(resolve(dirname(file), target!));
        if (!(ALLOWED[room(file)] ?? []).includes(to)) wrong.push(`${relative(source, file)} → ${target}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it("keeps schemas usable in a page: nothing from node:", () => {
    const wrong = sources(join(source, "schema")).filter((file) => /from "node:/.test(readFileSync(file, "utf8")));
    expect(wrong).toEqual([]);
  });

  it("has no file over 400 lines without a reason in its first lines", () => {
    const project = join(source, "..");
    const files = ["src", "scripts", "tests", "bench"].flatMap((folder) =>
      readdirSync(join(project, folder), { recursive: true, encoding: "utf8" })
        .filter((name) => /\.(?:tsx?|mjs)$/.test(name) && !name.includes("node_modules"))
        .map((name) => join(folder, name)),
    );
    const long = files.filter((name) => {
      const lines = readFileSync(join(project, name), "utf8").split("\n");
      return lines.length > 401 && !/\bLong because: /.test(lines.slice(0, 5).join("\n"));
    });
    expect(long).toEqual([]);
  });

  it("replaces files by renameOver, which Windows needs; plain renames are of folders, or to names that are new", () => {
    const plain = sources(source).filter((file) => /\brenameSync\(/.test(readFileSync(file, "utf8")));
    expect(plain.map((file) => relative(source, file)).sort()).toEqual(PLAIN_RENAMES);
  });

  it("has no room for leftovers", () => {
    const wrong = sources(source).filter((file) => /\/(utils?|helpers?|common|misc)(\/|\.ts)/.test(file));
    expect(wrong).toEqual([]);
  });
});
