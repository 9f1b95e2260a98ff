// pytest as a system's package has it, without the plug-ins that happen to be installed beside it on this machine. Each start
// loads those, and some take three times as long as pytest itself. Loading by entry point stays on: a plug-in that the
// work brings is still one.
import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { temporary } from "../temporary.js";

/** What pytest is made of, or `null` where it brings no plug-ins along or is not installed with its python. */
const ASK = `
import importlib.metadata as known, json, os, re, sys
def parts(name):
    try:
        found = known.distribution(name)
    except known.PackageNotFoundError:
        return {}
    here = {name: found}
    for need in found.requires or []:
        word = re.match(r"[\\w.-]+", need).group().lower()
        if "extra" not in need and word != name:
            here.update(parts(word))
    return here
def paths():
    try:
        plugins = known.entry_points(group="pytest11")
    except TypeError:
        return None
    all = parts("pytest")
    if not plugins or any(each.files is None for each in all.values()):
        return None
    tops = {str(each.locate_file(file.parts[0])) for each in all.values() for file in each.files}
    inside = [path for path in tops if os.path.basename(path) not in ("..", "__pycache__")]
    return inside if inside and all_below(inside) else None
def all_below(inside):
    return all(os.path.realpath(path).startswith(os.path.realpath(sys.base_prefix) + os.sep) for path in inside)
found = paths() if sys.prefix == sys.base_prefix else None
print(json.dumps(found and {"python": os.path.realpath(sys.executable), "version": "%d.%d" % sys.version_info[:2], "paths": found}))
`;

interface Found {
  readonly python: string;
  readonly version: string;
  readonly paths: readonly string[];
}

/** A folder to put first on PATH: python3 and pytest as they are here, without what else is installed for them. None where nothing would change. */
export function plainPytest(): readonly string[] {
  const { stdout, status } = spawnSync("python3", ["-c", ASK], { encoding: "utf8", timeout: 60_000 });
  const found = status === 0 ? (JSON.parse(stdout) as Found | null) : null;
  if (found === null) return [];
  const folder = temporary("nut-python-");
  const [bin, packages] = [join(folder, "bin"), join(folder, `lib/python${found.version}/site-packages`)];
  for (const path of [bin, packages]) mkdirSync(path, { recursive: true });
  writeFileSync(join(folder, "pyvenv.cfg"), `home = ${dirname(found.python)}\ninclude-system-site-packages = false\n`);
  for (const name of ["python", "python3", `python${found.version}`]) symlinkSync(found.python, join(bin, name));
  for (const path of found.paths) symlinkSync(path, join(packages, basename(path)));
  const start = `#!${join(bin, "python3")}\nimport sys\nfrom pytest import console_main\nsys.exit(console_main())\n`;
  writeFileSync(join(bin, "pytest"), start, { mode: 0o755 });
  return [bin];
}

/** For what is run in this process: its own PATH, for as long as the file's tests run. */
export function usePlainPytest(): void {
  let before: string | undefined;
  beforeAll(() => {
    before = process.env.PATH;
    process.env.PATH = [...plainPytest(), before].join(delimiter);
  });
  afterAll(() => {
    process.env.PATH = before;
  });
}
