// Crates that the system's packages brought. Who takes them in a registry's place says so in cargo's settings at home, and a
// room has another home.
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { parse, stringify } from "@decimalturn/toml-patch";
import { isSystemError } from "../../errors.js";
import { type Environment, isProgramPlace } from "../../process/index.js";

/** Settings for a room: registries that a folder of the system's stands for. null when there are none. */
export function cargoSources(env: Environment): string | null {
  const home = env.CARGO_HOME ?? (env.HOME === undefined ? null : join(env.HOME, ".cargo"));
  const text = home === null ? null : (readText(join(home, "config.toml")) ?? readText(join(home, "config")));
  return text === null ? null : systemSources(text);
}

/** Every room shows the system's folders; whatever else such settings say is their owner's business. */
export function systemSources(settings: string): string | null {
  const folders = new Map<string, string>();
  const instead: [string, string][] = [];
  for (const [name, source] of Object.entries(table(table(parsed(settings)).source))) {
    const { directory, "replace-with": other } = table(source);
    if (typeof directory === "string" && isProgramPlace(posix.normalize(directory))) folders.set(name, directory);
    if (typeof other === "string") instead.push([name, other]);
  }
  const kept = instead.filter(([, other]) => folders.has(other));
  if (kept.length === 0) return null;
  const used = new Set(kept.map(([, other]) => other));
  const source = {
    ...Object.fromEntries(kept.map(([name, other]) => [name, { "replace-with": other }])),
    ...Object.fromEntries([...used].map((name) => [name, { directory: folders.get(name) }])),
  };
  return stringify({ source });
}

const table = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};

/** What cargo itself cannot read, it complains about where it is used. */
function parsed(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return {};
  }
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isSystemError(error)) return null;
    throw error;
  }
}
