import { expect, it } from "vitest";
import { isObeyed } from "./obeyed.js";

it("lets folders stay that are called as every object's properties", () => {
  expect([".cargo/config.toml", "a/.github/prompts/x.md"].filter((path) => !isObeyed(path))).toEqual([]);
  const names = Object.getOwnPropertyNames(Object.prototype);
  expect(names.filter((name) => isObeyed(`${name}/has`))).toEqual([]);
});
