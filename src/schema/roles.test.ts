import { expect, it } from "vitest";
import { mayEdit, roleIn, standingOf } from "./roles.js";

it.each(["file_creation", "file_modification", "file_deletion"] as const)(
  "[P6] a role that is denied %s alone may not edit at all",
  (denied) => {
    expect(mayEdit(standingOf({ names: ["scribe"] }, { scribe: [denied] }))).toBe(false);
    expect(mayEdit(standingOf({ names: ["scribe"] }, { scribe: ["subprocess_spawn"] }))).toBe(true);
  },
);

it.each([
  [undefined, null],
  ["", null],
  ["lead", null],
  ["tester", "tester"],
])("a process with NEXUS_ROLE %j is started as %j", (said, role) => {
  expect(roleIn({ NEXUS_ROLE: said })).toBe(role);
});
