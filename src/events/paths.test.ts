import { describe, expect, it } from "vitest";
import { insideProject } from "./paths.js";

describe("where a path lies in a project", () => {
  it.each<[string, string, string | null]>([
    ["/p/.nexus/state/x", "/p", ".nexus/state/x"],
    ["/p", "/p", ""],
    ["/pq/x", "/p", null],
    ["/x", "/", "x"],
    // A name may hold one here.
    ["/p/a\\b", "/p", "a\\b"],
    ["C:\\p\\.nexus\\state\\x", "C:\\p", ".nexus/state/x"],
    ["c:/P/.Nexus\\config.yml", "C:\\p", ".Nexus/config.yml"],
    ["C:\\p", "c:\\P", ""],
    ["C:\\pq\\x", "C:\\p", null],
    ["D:\\p\\x", "C:\\p", null],
    ["\\\\host\\share\\p\\x", "\\\\host\\share\\p", "x"],
  ])("%s in %s", (path, root, inside) => {
    expect(insideProject(path, root)).toBe(inside);
  });
});
