import { expect, it } from "vitest";
import { defaultName } from "./default-name.js";

it.each([
  ["Build a REST API", "build-a-rest-api.nut"],
  ["../../etc/passwd", "etc-passwd.nut"],
  ["--output=x", "output-x.nut"],
  [".hidden", "hidden.nut"],
  ["Überprüfung 東京", "überprüfung-東京.nut"],
  ["", "bundle.nut"],
  ["///", "bundle.nut"],
  ["\x1b[31m\u202e", "31m.nut"],
  ["ab".repeat(100), `${"ab".repeat(30)}.nut`],
  ["𝒳".repeat(100), `${"𝒳".repeat(60)}.nut`],
])("makes a file name of %j", (title, name) => {
  expect(defaultName(title)).toBe(name);
});
