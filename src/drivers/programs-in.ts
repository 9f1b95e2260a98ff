import { statSync } from "node:fs";

/** Programs and scripts a shell line names by their path. Other files it names are not shown for that. */
export function programsIn(line = ""): string[] {
  const paths = [...line.matchAll(/(?:^|[\s"'=:;])(\/[^\s"':;]+)/g)].map(([, path]) => path!);
  return paths.filter(isProgram);
}

function isProgram(path: string): boolean {
  try {
    const stat = statSync(path);
    return stat.isFile() && ((stat.mode & 0o111) !== 0 || /\.(?:[cm]?[jt]s|py|sh|rb|pl)$/.test(path));
  } catch {
    return false;
  }
}
