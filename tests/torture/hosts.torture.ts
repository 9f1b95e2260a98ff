// The long form of tests/hosts/setup-kill.test.ts: a kill before every change a set-up makes.
import { describe, expect, it } from "vitest";
import { killSetup } from "../hosts/setup-kill.js";

describe.each(["claude", "codex", "opencode"])("nexus setup %s, killed before every change", (host) => {
  it.each([false, true])("is undone to the byte (set up before: %s)", (again) => {
    let kills = 0;
    for (let when = 1; when <= 1_000; when += 1) {
      const { killed, wrong } = killSetup(host, when, { again });
      expect(wrong, `kill ${when}`).toEqual([]);
      if (!killed) break;
      kills += 1;
    }
    console.log(`${host}: ${kills} kills`);
    expect(kills).toBeGreaterThan(5);
  });
});
