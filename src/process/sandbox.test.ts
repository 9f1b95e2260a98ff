import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { overlayPlace } from "./in-overlay.js";
import { type Mount, sandboxArguments } from "./sandbox.js";
import { installPrefixes } from "./visible-system.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nut-mounts-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const arguments_ = (mounts: readonly Mount[]) => sandboxArguments({ root: "system", network: "none", mounts }, "/");

describe("what is shown", () => {
  it("is a version manager with all it installed, whoever's home it lies in, and never a project", () => {
    const place = (name: string) => {
      for (const inner of [".git", "versions", "shims", "bin"])
        mkdirSync(join(folder, name, inner), { recursive: true });
      return join(folder, name, "shims");
    };
    const PATH = [place(".manager"), place("project")].join(":");
    expect(installPrefixes({ PATH, HOME: join(folder, "elsewhere") }, [])).toEqual([
      join(folder, ".manager"),
      join(folder, "project/shims"),
    ]);
  });

  it("is never the person's home, although the program inside has another one", () => {
    const home = realpathSync(folder);
    for (const inner of ["bin", "lib"]) mkdirSync(join(home, inner));
    const env = { PATH: join(home, "bin"), HOME: home };
    const args = sandboxArguments({ root: "system", network: "none", env }, "/", { ...env, HOME: "/agent" });
    expect(args).toContain(join(home, "bin"));
    expect(args).not.toContain(home);
  });
});

describe("what is mounted", () => {
  it.each<[string, (at: string) => Mount[]]>([
    ["a link", (at) => [{ access: "writable", path: "/x", from: join(at, "planted") }]],
    [
      "below a link in what can be written",
      (at) => [
        { access: "writable", path: "/x", from: at },
        { access: "read-only", path: "/x/tests", from: join(at, "planted/tests") },
      ],
    ],
    [
      "below a link that an overlay was left with",
      (at) => [
        { access: "overlay", path: "/x", layers: ["/usr"], changes: at },
        { access: "writable", path: "/x/tests", from: join(overlayPlace(at), "planted/tests") },
      ],
    ],
  ])("is never %s", (_, mounts) => {
    symlinkSync("/etc", join(folder, "planted"));
    expect(() => arguments_(mounts(folder))).toThrow(/planted is a link/);
    rmSync(join(folder, "planted"));
    mkdirSync(join(folder, "planted"));
    expect(arguments_(mounts(folder))).toContain("--chdir");
  });
});
