// Variables with which the real OpenCode leaves our plugin out (seen with it): doctor names them.
import { afterEach, expect, it } from "vitest";
import { newPlace, type Place } from "./clients.js";

let place: Place;
afterEach(() => place.remove());

it.each([
  ["OPENCODE_PURE", "1", "unset OPENCODE_PURE"],
  ["OPENCODE_DISABLE_PROJECT_CONFIG", "true", "unset OPENCODE_DISABLE_PROJECT_CONFIG"],
  ["OPENCODE_PURE", "0", null],
])("%s=%s is a problem where OpenCode takes it for yes", async (name, value, fix) => {
  place = newPlace({ "a.txt": "hello\n" });
  expect((await place.nexusHere("setup", "opencode")).exit).toBe(0);
  const { stdout } = await place.nexusWith({ [name]: value }, "doctor", "opencode");
  if (fix === null) expect(stdout).not.toContain("does not load the plugin");
  else expect(stdout).toContain(fix);
});
