import { expect, it } from "vitest";
import versions from "../../tests/hosts/clients.json" with { type: "json" };
import { howKnown, isOlder, KNOWN_VERSIONS } from "./known-versions.js";

it.each([
  ["1.9.9", "1.10.0", true],
  ["1.10.0", "1.9.9", false],
  ["2.0.0", "1.9.9", false],
  ["0.163.0", "0.163.0", false],
  ["0.163.0", "0.163.1", true],
])("%s is older than %s: %s", (version, minimum, older) => {
  expect(isOlder(version, minimum)).toBe(older);
});

it.each([
  ["1.9.9", "old"],
  ["2.0.0", "untried"],
  ["2.3.4", "tried"],
  ["2.3.5", "untried"],
  ["3.0.0", "untried"],
])("%s is %s", (version, known) => {
  expect(howKnown(version, { oldest: "2.0.0", tried: "2.3.4", install: "x" })).toBe(known);
});

it("calls those tried that the tests install", () => {
  const installs = Object.values(KNOWN_VERSIONS).map(({ install }) => install);
  const ours = Object.entries(versions).map(([name, version]) => `npm install -g ${name}@${version}`);
  expect(ours).toEqual(expect.arrayContaining(installs));
});
