// Tasks made for a container know their folders by absolute names, such as /app. In a sandbox those are links into the tree,
// or empty folders in memory.
import { posix } from "node:path";
import type { Mount } from "./sandbox.js";

/** `places` are names from a closed list, each with a path in the tree, or null for an empty folder. */
export function placeMounts(
  places: Readonly<Partial<Record<string, string | null>>>,
  tree: string,
  maxBytes: number,
): Mount[] {
  return Object.entries(places).flatMap(([name, path]): Mount[] => {
    if (path == null) return [{ access: "hidden", path: name, maxBytes }];
    const to = posix.join(tree, posix.normalize(`/${path}`));
    return [{ access: "link", path: name, to: to.replace(/\/$/, "") }];
  });
}
