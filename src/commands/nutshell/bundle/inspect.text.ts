import { command } from "../../../cli/command.js";
import { bold, count, dim, grouped, red, size, table, yellow } from "../../../cli/text.js";
import { LIMIT_FLAGS } from "../pack-flags.js";
import { inspect } from "./inspect.js";

interface Shown {
  readonly path: string;
  readonly kind: "file" | "folder";
  readonly size: number;
  readonly role?: string | undefined;
  readonly tokens?: number | undefined;
}

export default command(inspect, {
  positionals: [{ name: "bundle", about: "a .nut file, or - for standard input" }],
  flags: {
    manifest: { field: "manifestOnly", about: "read no further than the manifest; files are then what it lists" },
    ...LIMIT_FLAGS,
  },
  examples: [
    ["nutshell inspect task.nut", "what is asked, and every file with size, role and tokens"],
    ["nutshell inspect --manifest huge.nut", "at once, however large the bundle"],
    ["cat task.nut | nutshell inspect --json - | jq -r .manifest.task.title", "one field"],
  ],
  text: ({ manifest, entries, compression, complete, content_digest: digest, findings }) => [
    ...head(manifest),
    ...table([
      ["  Type:", `${text(manifest.bundle_type)}, format ${text(manifest.nutshell_version)}, ${compression}`],
      ["  Id:", text(manifest.id)],
      ...(digest === undefined ? [] : [["  Content:", digest]]),
      ["  Files:", total(entries)],
    ]),
    ...(complete ? [] : [dim("  (as the manifest lists them; the archive was not read)")]),
    "",
    ...tree(entries),
    ...findings.map(({ severity, message }) => `${severity === "error" ? red("✗") : yellow("⚠")} ${message}`),
  ],
});

function head(manifest: Record<string, unknown>): string[] {
  const task = (manifest.task ?? {}) as Record<string, unknown>;
  const title = text(task.title) || text(manifest.summary) || "(no title)";
  const priority = task.priority === undefined ? "" : ` ${dim(`[${text(task.priority)}]`)}`;
  return [`${bold(title)}${priority}`, ...(task.summary === undefined ? [] : [text(task.summary)])];
}

/** Lenient manifests may hold anything anywhere. */
function text(value: unknown): string {
  return typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
}

function total(entries: readonly Shown[]): string {
  const files = entries.filter(({ kind }) => kind === "file");
  const tokens = files.reduce((sum, { tokens: own = 0 }) => sum + own, 0);
  const bytes = files.reduce((sum, { size: own }) => sum + own, 0);
  return `${count(files.length, "file")}, ${size(bytes)}${tokens > 0 ? `, about ${count(tokens, "token")}` : ""}`;
}

/** Paths as a tree: each folder once, its content indented. */
function tree(entries: readonly Shown[]): string[] {
  const rows: string[][] = [];
  let open: readonly string[] = [];
  for (const entry of entries) {
    const steps = entry.path.split("/");
    const name = steps.pop()!;
    const folders = entry.kind === "folder" ? [...steps, name] : steps;
    let same = 0;
    while (same < folders.length && same < open.length && folders[same] === open[same]) same += 1;
    for (let depth = same; depth < folders.length; depth += 1) rows.push([`${indent(depth)}${folders[depth]}/`]);
    open = folders;
    if (entry.kind === "folder") continue;
    const tokens = entry.tokens === undefined ? "" : `~${grouped(entry.tokens)} tokens`;
    rows.push([`${indent(steps.length)}${name}`, dim(size(entry.size)), dim(tokens), entry.role ?? ""]);
  }
  return table(rows);
}

const indent = (depth: number) => "  ".repeat(depth + 1);
