// The part of JSONPath that fixtures use: `$`, `.name`, `['name']`, `[0]`, `[-1]`, `.length`.

const PART = /\.([^.[\]]+)|\[(-?\d+)\]|\['([^']*)'\]/y;

/** The parts of a path, or null when it is not one. */
export function parsePath(path: string): (string | number)[] | null {
  if (!path.startsWith("$")) return null;
  const parts: (string | number)[] = [];
  PART.lastIndex = 1;
  while (PART.lastIndex < path.length) {
    const match = PART.exec(path);
    if (match === null) return null;
    parts.push(match[2] === undefined ? (match[1] ?? match[3]!) : Number(match[2]));
  }
  return parts;
}

/** What a path leads to; undefined when there is nothing. */
export function valueAt(root: unknown, parts: readonly (string | number)[]): unknown {
  let at = root;
  for (const part of parts) {
    if (typeof part === "number") at = Array.isArray(at) ? at.at(part) : undefined;
    else if (part === "length" && (Array.isArray(at) || typeof at === "string")) at = at.length;
    else at = typeof at === "object" && at !== null && Object.hasOwn(at, part) ? (at as never)[part] : undefined;
  }
  return at;
}
