// Paths as plans and constraints name them: a file, a folder, or a pattern.

/** `src/` holds `src/a.ts`; `src/*.ts` may hold anything under `src`. */
export function pathsOverlap(a: string, b: string): boolean {
  const left = stem(a);
  const right = stem(b);
  return left === right || within(left, right) || within(right, left);
}

/** Whether `path` is one of the declared files, or lies in one of the declared folders or patterns. */
export function pathAllowed(path: string, allowed: readonly string[]): boolean {
  return allowed.some((entry) => {
    const clean = normal(entry);
    if (/[*?]/.test(clean)) return globMatches(clean, path);
    return clean === "" || path === clean || within(clean, path);
  });
}

const normal = (path: string) => path.replace(/^\.\//, "").replace(/\/+$/, "");

/** The part of a pattern before its first wildcard, cut at a folder. */
function stem(path: string): string {
  const clean = normal(path);
  const star = clean.search(/[*?]/);
  if (star < 0) return clean;
  return clean.slice(0, Math.max(0, clean.lastIndexOf("/", star)));
}

const within = (folder: string, path: string) => folder === "" || path.startsWith(`${folder}/`);

function globMatches(pattern: string, path: string): boolean {
  const source = pattern
    .split(/(\*\*\/?|\*|\?)/)
    .map((part) => {
      if (part.startsWith("**")) return ".*";
      if (part === "*") return "[^/]*";
      if (part === "?") return "[^/]";
      return part.replace(/[.+^${}()|[\]\\]/g, "\\$&");
    })
    .join("");
  return new RegExp(`^${source}$`).test(path);
}

/** A path that stays below the folder it is read from. */
export function inside(path: string): boolean {
  return !path.startsWith("/") && !path.includes("\0") && !path.split("/").includes("..");
}
