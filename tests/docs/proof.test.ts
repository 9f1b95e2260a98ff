// docs/proof.md shows the whole table of tests/liars; UPDATE_DOCS=1 writes it.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { markdown } from "../liars/markdown.js";
import { FAMILIES } from "../liars/table.js";
import { root } from "./console.js";

const path = join(root, "docs/proof.md");
const MARK = /(<!-- tricks: [^\n]* -->\n)[\s\S]*$/;

it("docs/proof.md shows every trick of the suite, and names every family", () => {
  const text = readFileSync(path, "utf8");
  const wanted = text.replace(MARK, (_, mark) => `${mark}\n${markdown()}\n`);
  if (process.env.UPDATE_DOCS === "1") writeFileSync(path, wanted);
  expect(readFileSync(path, "utf8")).toBe(wanted);
  for (const family of FAMILIES) expect(text.toLowerCase()).toContain(family);
});
