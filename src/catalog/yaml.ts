import { parseDocument } from "yaml";

/** One YAML document as plain data; `refuse` makes the error from a reason that names the line. Aliases are bounded. */
export function parseYaml(text: string, refuse: (reason: string) => Error): unknown {
  const document = parseDocument(text, { prettyErrors: true });
  const error = document.errors[0];
  if (error !== undefined) throw refuse(`line ${error.linePos?.[0].line ?? 1}: ${error.message.split("\n")[0]}`);
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (cause) {
    throw refuse(cause instanceof Error ? cause.message : String(cause));
  }
}
