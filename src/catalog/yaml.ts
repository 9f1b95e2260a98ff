import { type Document, isScalar, LineCounter, parseDocument, visit } from "yaml";

/**
 * One YAML document as plain data; `refuse` makes the error from a reason that names the line. Aliases are bounded. The library
 * compares each key with all before it, and writes a page for every error: a stranger's file would take minutes.
 */
export function parseYaml(text: string, refuse: (reason: string) => Error): unknown {
  const lines = new LineCounter();
  const at = (place: number) => `line ${lines.linePos(place).line}`;
  let document: Document.Parsed;
  try {
    document = parseDocument(text, { prettyErrors: false, uniqueKeys: false, lineCounter: lines });
  } catch (cause) {
    // It calls itself for each level.
    throw refuse(cause instanceof RangeError ? "it is nested too deep" : String(cause));
  }
  const error = document.errors[0];
  if (error !== undefined) throw refuse(`${at(error.pos[0])}: ${error.message.split("\n")[0]}`);
  const twice = secondKey(document);
  if (twice !== null) throw refuse(`${at(twice)}: Map keys must be unique`);
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (cause) {
    throw refuse(cause instanceof Error ? cause.message : String(cause));
  }
}

/** Where a key of a map stands that it has already. */
function secondKey(document: Document.Parsed): number | null {
  let found: number | null = null;
  visit(document, {
    Map: (_, { items }) => {
      const keys = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (keys.has(key.value)) found = key.range?.[0] ?? 0;
        if (found !== null) return visit.BREAK;
        keys.add(key.value);
      }
      return undefined;
    },
  });
  return found;
}
