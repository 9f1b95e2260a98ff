// The long form, a kill before every change, is in tests/torture/hosts.torture.ts.
import { describe, expect, it } from "vitest";
import { killSetup } from "./setup-kill.js";

describe("a set-up that is killed", () => {
  it.each([1, 3, 5, 7, 12, 33, 80])("before its change %i is undone to the byte", (when) => {
    expect(killSetup("claude", when)).toEqual({ killed: true, wrong: [] });
  });

  it.each([4, 6, 11])("before its change %i, when it was set up before, is undone to the byte", (when) => {
    expect(killSetup("claude", when, { again: true })).toEqual({ killed: true, wrong: [] });
  });
});
