import { statSync } from "node:fs";
import { programOf } from "./probe.js";

/** Programs and scripts a shell line names by their path. Other files it names are not shown for that. */
export function programsIn(line = ""): string[] {
  const named = [...line.matchAll(/(?:^|[\s"'=:;])(\/[^\s"':;]+)/g)].map(([, path]) => path!);
  return [...new Set([programOf(line), ...named])].filter((path) => path.startsWith("/") && isProgram(path));
}

function isProgram(path: string): boolean {
  try {
    const stat = statSync(path);
    return stat.isFile() && ((stat.mode & 0o111) !== 0 || /\.(?:[cm]?[jt]s|py|sh|rb|pl)$/.test(path));
  } catch {
    return false;
  }
}
