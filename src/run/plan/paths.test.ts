import { describe, expect, it } from "vitest";
import { pathAllowed, pathsOverlap } from "./paths.js";

describe("paths of a plan", () => {
  it("knows which paths overlap", () => {
    expect(pathsOverlap("src", "src/a")).toBe(true);
    expect(pathsOverlap("src/a", "src/ab")).toBe(false);
    expect(pathsOverlap("src/*.ts", "src/deep/x.ts")).toBe(true);
    expect(pathsOverlap("./a/", "a")).toBe(true);
  });

  it("knows which paths a task may change", () => {
    expect(pathAllowed("src/a.ts", ["src/"])).toBe(true);
    expect(pathAllowed("src2/a.ts", ["src"])).toBe(false);
    expect(pathAllowed("src/a.ts", ["src/*.ts"])).toBe(true);
    expect(pathAllowed("src/x/a.ts", ["src/*.ts"])).toBe(false);
    expect(pathAllowed("src/x/a.ts", ["src/**/*.ts"])).toBe(true);
  });
});
