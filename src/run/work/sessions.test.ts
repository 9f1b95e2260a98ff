import { describe, expect, it } from "vitest";
import { chooseSession } from "../../session/resume-policy.js";

describe("sessions", () => {
  const earlier = [{ agent: "a", session: "s", task: 1, files: ["x"], editedSince: false }];
  const choose = (extra: Partial<Parameters<typeof chooseSession>[0]>) =>
    chooseSession({ tier: "bounded", earlier, files: ["x"], canResume: true, ...extra });

  it.each([
    ["fresh by policy", { policy: "fresh" as const }, null],
    ["ephemeral is always fresh", { tier: "ephemeral" as const }, null],
    ["persistent continues", { tier: "persistent" as const, files: [] }, "s"],
    ["bounded continues on the same files", {}, "s"],
    ["bounded starts fresh on other files", { files: ["y"] }, null],
    ["bounded starts fresh after an edit by others", { earlier: [{ ...earlier[0]!, editedSince: true }] }, null],
    [
      "an edit by others beats the policy",
      { policy: "resume" as const, earlier: [{ ...earlier[0]!, editedSince: true }] },
      null,
    ],
    ["the policy continues across files", { policy: "resume" as const, files: ["y"] }, "s"],
    ["a policy lets an ephemeral role continue", { tier: "ephemeral" as const, policy: "resume" as const }, "s"],
    ["no way to continue means fresh", { canResume: false }, null],
  ])("%s", (_, extra, expected) => {
    const choice = choose(extra);
    expect(choice.session?.session ?? null).toBe(expected);
    expect(choice.reason).not.toBe("");
  });
});
