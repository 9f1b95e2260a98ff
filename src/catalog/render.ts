// A catalog text as a host wants it: frontmatter, the body word for word, and the names the abstract tools have there.
// Hosts decide which fields their frontmatter has; nothing here knows a host.

export type FrontmatterValue = string | number | boolean | readonly string[];

export interface RenderOptions {
  readonly body: string;
  /** Fields in the order they are written; undefined ones are left out. */
  readonly frontmatter?: Readonly<Record<string, FrontmatterValue | undefined>>;
  /** Abstract tool name → the name it has in this host. */
  readonly toolNames?: Readonly<Record<string, string>>;
  /** Paragraphs after the body: how to report to Lead, how sessions are resumed. */
  readonly notes?: readonly string[];
}

export function renderPrompt({ body, frontmatter = {}, toolNames = {}, notes = [] }: RenderOptions): string {
  const parts = [body.trimEnd(), ...notes.map((note) => note.trimEnd()), toolSection(body, toolNames)];
  return `${head(frontmatter)}${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

/** The abstract tools a text speaks of, in the order of the map. */
export function mentionedTools(body: string, toolNames: Readonly<Record<string, string>>): string[] {
  return Object.keys(toolNames).filter((name) => body.includes(`\`${name}\``));
}

function toolSection(body: string, toolNames: Readonly<Record<string, string>>): string {
  const used = mentionedTools(body, toolNames).filter((name) => toolNames[name] !== name);
  if (used.length === 0) return "";
  const rows = used.map((name) => `- \`${name}\` is \`${toolNames[name]}\``);
  return ["## Tool names here", "", ...rows].join("\n");
}

function head(fields: Readonly<Record<string, FrontmatterValue | undefined>>): string {
  const rows = Object.entries(fields).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}: ${yaml(value)}`],
  );
  return rows.length === 0 ? "" : `---\n${rows.join("\n")}\n---\n\n`;
}

const PLAIN = /^[A-Za-z_][\w ,./()*-]*$/;
const PLAIN_ITEM = /^[A-Za-z_][\w./-]*$/;
const RESERVED = /^(?:true|false|yes|no|on|off|null|y|n)$/i;

/** JSON is YAML, so quoting is JSON's; words that cannot be misread stay bare, as people write them. */
function yaml(value: FrontmatterValue, plain = PLAIN): string {
  if (typeof value === "object") return `[${value.map((item) => yaml(item, PLAIN_ITEM)).join(", ")}]`;
  if (typeof value !== "string") return String(value);
  const bare = plain.test(value) && !RESERVED.test(value) && value === value.trim();
  return bare ? value : JSON.stringify(value);
}
