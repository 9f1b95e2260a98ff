import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { installKind } from "../../schema/install.js";
import { inputsOf } from "./recipes.js";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** What of a tree a lock file is installed from. */
function inputs(path: string, tree: Readonly<Record<string, string>>, reads: readonly string[] = []) {
  const folder = mkdtempSync(join(tmpdir(), "nut-recipes-"));
  folders.push(folder);
  const files = new Map<string, string>();
  for (const [name, text] of Object.entries(tree)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
    files.set(name, join(folder, name));
  }
  return inputsOf({ path, kind: installKind(path), reads, network: true }, files);
}
const names = (...asked: Parameters<typeof inputs>) => [...inputs(...asked).keys()].sort();

describe("what is installed is made of", () => {
  it("npm's lock file, the packages of the project itself and the tarballs beside them", () => {
    const lock = JSON.stringify({
      packages: {
        "": {},
        "packages/tool": { bin: { tool: "cli.js" } },
        "node_modules/tool": { resolved: "packages/tool", link: true },
        "node_modules/left": { resolved: "file:vendor/left.tgz" },
        "node_modules/out": { resolved: "file:../../secret.tgz" },
      },
    });
    const tree = {
      "app/package-lock.json": lock,
      "app/package.json": '{"name":"app","scripts":{"prepare":"tsc"}}',
      "app/.npmrc": "fund=false\n",
      "app/packages/tool/package.json": '{"bin":{"tool":"./cli.js"},"scripts":{"prepare":"x"}}',
      "app/packages/tool/cli.js": "1\n",
      "app/packages/tool/index.js": "2\n",
      "app/vendor/left.tgz": "x",
      "secret.tgz": "x",
      "app/src/index.js": "3\n",
    };
    expect(names("app/package-lock.json", tree)).toEqual([
      "app/.npmrc",
      "app/package-lock.json",
      "app/package.json",
      "app/packages/tool/cli.js",
      "app/packages/tool/package.json",
      "app/vendor/left.tgz",
    ]);
    const made = inputs("app/package-lock.json", tree).get("app/package.json");
    expect(made).toEqual({ text: '{\n  "name": "app"\n}\n' });
  });

  it("pip's lists as far as they lead, wheels among them", () => {
    const tree = {
      "requirements.txt":
        "-r more/base.txt\n--find-links=wheels\n./local/x-1.0.whl ; python_version > '3'\n# -r not.txt\n",
      "more/base.txt": "-c ../limits.txt\n-r ../requirements.txt\nflask==3.0\n",
      "limits.txt": "flask<4\n",
      "not.txt": "x\n",
      "wheels/a.whl": "",
      "local/x-1.0.whl": "",
      "setup.py": "",
    };
    expect(names("requirements.txt", tree)).toEqual([
      "limits.txt",
      "local/x-1.0.whl",
      "more/base.txt",
      "requirements.txt",
      "wheels/a.whl",
    ]);
    expect(names("requirements.txt", tree, ["setup.py"])).toContain("setup.py");
  });

  it.each<[string, Record<string, string>, string[]]>([
    [
      "pnpm-lock.yaml",
      {
        "pnpm-lock.yaml": "  resolution: {tarball: file:vendor/a.tgz}\n",
        "package.json": "{}",
        "packages/a/package.json": "{}",
        "node_modules/b/package.json": "{}",
        "pnpm-workspace.yaml": "",
        "vendor/a.tgz": "",
        "patches/b.patch": "",
        "src/index.ts": "",
      },
      [
        "package.json",
        "packages/a/package.json",
        "patches/b.patch",
        "pnpm-lock.yaml",
        "pnpm-workspace.yaml",
        "vendor/a.tgz",
      ],
    ],
    [
      "uv.lock",
      {
        "uv.lock":
          'source = { editable = "." }\nsource = { directory = "libs/core" }\nurl = "https://example.org/x.whl"\n',
        "pyproject.toml": "",
        "libs/core/pyproject.toml": "",
        "src/app.py": "",
      },
      ["libs/core/pyproject.toml", "pyproject.toml", "uv.lock"],
    ],
    [
      "Cargo.lock",
      {
        "Cargo.lock": "",
        "Cargo.toml": "",
        "crates/a/Cargo.toml": "",
        "crates/a/src/lib.rs": "fn x() {}",
        "target/a.rs": "",
      },
      ["Cargo.lock", "Cargo.toml", "crates/a/Cargo.toml", "crates/a/src/lib.rs"],
    ],
    [
      "api/go.sum",
      { "api/go.sum": "", "api/go.mod": "", "go.mod": "", "api/main.go": "" },
      ["api/go.mod", "api/go.sum"],
    ],
    ["tests/install.sh", { "tests/install.sh": "", "files/a.txt": "" }, ["tests/install.sh"]],
  ])("no more than %s needs", (path, tree, expected) => {
    expect(names(path, tree)).toEqual(expected);
  });

  it("crates that lie in the tree, whole", () => {
    const tree = {
      "Cargo.lock": "",
      "src/main.rs": "fn main() {}",
      "other/lib.rs": "x",
      ".cargo/config.toml": '[source.crates-io]\nreplace-with = "v"\n[source.v]\ndirectory = "vendor"\n',
      "vendor/adder/src/lib.rs": "pub fn add() {}",
      "vendor/adder/.cargo-checksum.json": "{}",
    };
    const found = inputs("Cargo.lock", tree);
    expect(found.get("vendor/adder/src/lib.rs")).toHaveProperty("from");
    expect(found.has("vendor/adder/.cargo-checksum.json")).toBe(true);
    expect(found.get("src/main.rs")).toEqual({ text: "" });
  });

  it("nothing of a crate but its names", () => {
    const tree = { "Cargo.lock": "", "src/main.rs": "fn main() {}" };
    expect(inputs("Cargo.lock", tree).get("src/main.rs")).toEqual({ text: "" });
  });
});
