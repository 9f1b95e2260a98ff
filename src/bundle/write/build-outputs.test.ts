import { describe, expect, it } from "vitest";
import { isBuildOutput } from "./build-outputs.js";

describe("what programs make", () => {
  const tree = new Set(["app/package.json", "rust/Cargo.toml", "my env/pyvenv.cfg", "odd/CACHEDIR.TAG"]);
  const has = (path: string) => tree.has(path);
  it.each([
    ["app/node_modules", true],
    ["app/dist", true],
    ["rust/target", true],
    ["my env", true],
    ["odd", true],
    ["lib/x.egg-info", true],
    ["docs/dist", false],
    ["target", false],
    ["src/build", false],
    ["toString", false],
  ])("folder %s: %s", (path, expected) => expect(isBuildOutput(path, true, has)).toBe(expected));
  it.each([
    ["a/b.pyc", true],
    ["old.nut", true],
    [".DS_Store", true],
    ["nutcracker", false],
    ["dist", false],
  ])("file %s: %s", (path, expected) => expect(isBuildOutput(path, false, has)).toBe(expected));
});
