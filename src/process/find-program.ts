import { accessSync, constants, statSync } from "node:fs";
import { posix, win32 } from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where a program is, as a shell would find it; null when it is nowhere. */
export function findProgram(name: string, env: Environment, cwd = "/"): string | null {
  return placesOf(name, env, cwd).find(runs) ?? null;
}

/** Where a shell would look, in order. Relative folders in PATH are not trusted. */
export function placesOf(name: string, env: Environment, cwd: string, platform = process.platform): string[] {
  if (name === "") return [];
  const isWindows = platform === "win32";
  const { delimiter, isAbsolute, join, resolve } = isWindows ? win32 : posix;
  const folders = (env.PATH ?? env.Path ?? "").split(delimiter).filter(isAbsolute);
  const isPath = name.includes("/") || (isWindows && /[\\:]/.test(name));
  const bare = isPath ? [resolve(cwd, name)] : folders.map((folder) => join(folder, name));
  return isWindows ? bare.flatMap((path) => ["", ...windowsEndings(env)].map((ending) => path + ending)) : bare;
}

/** What Windows tries behind a name that says no kind. */
const windowsEndings = (env: Environment) => (env.PATHEXT ?? ".COM;.EXE;.BAT;.CMD").toLowerCase().split(";");

function runs(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
