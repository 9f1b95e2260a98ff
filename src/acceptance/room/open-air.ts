// Where a room lies that no sandbox holds. Runners, interpreters and git look for settings and modules in every folder
// above the one they start in, so there must be no project above it: not the person's own, and nobody else's.
import { existsSync, mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { NutError } from "../../errors.js";
import type { Environment } from "../../process/index.js";

/** What makes a folder a project to the programs that look for one. */
const MARKS = [
  ...".git .hg .svn .nexus node_modules package.json deno.json tsconfig.json jsconfig.json .babelrc .npmrc".split(" "),
  ..."pyproject.toml setup.cfg setup.py tox.ini pytest.ini conftest.py .python-version".split(" "),
  ..."Cargo.toml .cargo rust-toolchain rust-toolchain.toml go.mod go.work pom.xml build.gradle Gemfile".split(" "),
];

/** A new folder of our own below no project. */
export function openAirFolder(env: Environment): string {
  const asked = env.TMPDIR !== undefined && isAbsolute(env.TMPDIR) ? env.TMPDIR : tmpdir();
  const places = [asked, "/tmp", "/var/tmp"].filter((place) => existsSync(place));
  const place = places.find((folder) => projectMark(folder) === null);
  if (place !== undefined) return mkdtempSync(join(realpathSync(place), "nut-rooms-"));
  const mark = projectMark(asked)!;
  throw new NutError("SANDBOX_UNSAFE", `checks without a sandbox would see the project around them: ${mark}`, {
    hint: "install bubblewrap, or set TMPDIR to a folder outside any project",
    data: { path: mark },
  });
}

/** The first file or folder at or above `folder` that makes it part of a project; null when there is none. */
export function projectMark(folder: string): string | null {
  for (let at = realpathSync(folder); ; at = dirname(at)) {
    const found = MARKS.map((name) => join(at, name)).find((path) => existsSync(path));
    if (found !== undefined) return found;
    if (at === dirname(at)) return null;
  }
}
