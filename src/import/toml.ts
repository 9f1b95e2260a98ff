import { parse } from "@decimalturn/toml-patch";

/** Settings are a few tables deep; for a key of thousands of names the parser takes the square of that. */
const DEEP_KEY = /(?:\.[ \t]*[\w"'-]+[ \t]*){65}/;

/** null when it is no TOML. */
export function readToml(text: string): Record<string, unknown> | null {
  if (DEEP_KEY.test(text)) return null;
  try {
    return parse(text) as Record<string, unknown>;
  } catch {
    return null;
  }
}
