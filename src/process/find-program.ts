import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where a program is, as a shell would find it; null when it is nowhere. Relative folders in PATH are not trusted. */
export function findProgram(name: string, env: Environment, cwd = "/"): string | null {
  if (name === "") return null;
  if (name.includes("/")) {
    const path = resolve(cwd, name);
    return runs(path) ? path : null;
  }
  for (const folder of (env.PATH ?? "").split(delimiter)) {
    if (isAbsolute(folder) && runs(join(folder, name))) return join(folder, name);
  }
  return null;
}

function runs(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
