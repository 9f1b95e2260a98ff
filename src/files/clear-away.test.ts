import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporary } from "../../tests/temporary.js";
import { clearAway } from "./clear-away.js";

it("takes away files and folders, and does not mind what is not there", () => {
  const folder = temporary("nut-clear-");
  mkdirSync(join(folder, "a/b"), { recursive: true });
  writeFileSync(join(folder, "a/b/c"), "");
  for (const name of ["a/b/c", "a", "none"]) clearAway(join(folder, name));
  expect(existsSync(join(folder, "a"))).toBe(false);
});

it("never hides why a command failed", () => {
  const file = join(temporary("nut-clear-"), "file");
  writeFileSync(file, "");
  const command = () => {
    try {
      throw new Error("the reason");
    } finally {
      clearAway(join(file, "below"));
    }
  };
  expect(command).toThrow("the reason");
});
