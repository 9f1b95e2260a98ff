import { parse } from "@decimalturn/toml-patch";

/** null when it is no TOML. */
export function readToml(text: string): Record<string, unknown> | null {
  try {
    return parse(text) as Record<string, unknown>;
  } catch {
    return null;
  }
}
