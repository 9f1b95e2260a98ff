import { statSync } from "node:fs";

/** A pipe, which would be waited for, or a device. A folder says itself that it cannot be read. */
export function isNoText(path: string): boolean {
  const stat = statSync(path);
  return !stat.isFile() && !stat.isDirectory();
}
