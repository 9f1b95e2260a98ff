// go.mod as a table: each directive with its lines, so that requirements can come from the work and the rest from the base. Pure.

type Directives = Record<string, unknown>;

const DIRECTIVE = /^(\w+)\s+(\S.*)$/;

/** null when it cannot be read. */
export function parseGoMod(text: string): Directives | null {
  const found = new Map<string, string[]>();
  let open: string | null = null;
  for (const raw of text.split(/\r?\n/)) {
    const line = raw.trim();
    if (line === "" || line.startsWith("//")) continue;
    if (open !== null) {
      if (line.startsWith(")")) open = null;
      else found.get(open)!.push(line);
      continue;
    }
    const [, name, rest] = DIRECTIVE.exec(line) ?? [];
    if (name === undefined || rest === undefined) return null;
    const list = found.get(name) ?? [];
    if (rest !== "(") list.push(rest);
    found.set(name, list);
    if (rest === "(") open = name;
  }
  return open === null ? Object.fromEntries(found) : null;
}

/** The usual order; what else there is comes after. */
const ORDER = ["module", "go", "toolchain", "require"];

export function stringifyGoMod(directives: Directives): string {
  const names = [...new Set([...ORDER, ...Object.keys(directives)])];
  const blocks = names.flatMap((name) => {
    const lines = directives[name];
    if (!Array.isArray(lines) || lines.length === 0) return [];
    return lines.length === 1
      ? [`${name} ${String(lines[0])}\n`]
      : [`${name} (\n${lines.map((line) => `\t${String(line)}\n`).join("")})\n`];
  });
  return blocks.join("\n");
}
