import { expect, it } from "vitest";
import { coverOf } from "./cover.js";

const isGuarded = (path: string) => /(^|\/)tests\/|package\.json$/.test(path);

it("covers a folder of tests by one mount, and anchors the folders above a single file", () => {
  const files = ["tests/a.sh", "tests/deep/b.sh", "src/a.js", "pkg/one/package.json", "pkg/one/index.js"];
  expect(coverOf(files, isGuarded)).toEqual({
    anchors: ["pkg", "pkg/one"],
    frozen: ["tests", "pkg/one/package.json"],
    compared: [],
  });
});

it("anchors the folders above a folder of tests that is not at the root", () => {
  expect(coverOf(["files/app.js", "files/tests/a.sh"], isGuarded)).toMatchObject({
    anchors: ["files"],
    frozen: ["files/tests"],
  });
});

it("holds the files of a folder one by one where tests make files of their own", () => {
  const files = ["tests/a.sh", "tests/deep/b.sh", "src/a.js"];
  expect(coverOf(files, isGuarded, { open: ["tests"] })).toEqual({
    anchors: ["tests"],
    frozen: ["tests/deep", "tests/a.sh"],
    compared: [],
  });
});

it("covers folders first when mounts run out, and says what is left to compare", () => {
  const files = ["a/package.json", "a/x.js", "b/package.json", "b/x.js", "tests/t.sh"];
  expect(coverOf(files, isGuarded, { limit: 3 })).toEqual({
    anchors: ["a"],
    frozen: ["tests", "a/package.json"],
    compared: ["b/package.json"],
  });
});
