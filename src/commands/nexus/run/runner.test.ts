import { describe, expect, it } from "vitest";
import { findFallbacks, findKeptFallbacks, findReviewer, findRunner } from "./runner.js";

describe("programs that may take over", () => {
  const world = { env: { PATH: "/nowhere" }, noSandbox: true };

  it("are refused when they are named and not there, and left out when a run had them before", async () => {
    await expect(findFallbacks(["opencode"], world)).rejects.toMatchObject({ code: "DRIVER_MISSING" });
    const said: string[] = [];
    const progress = ({ message = "" }: { message?: string }) => void said.push(message);
    expect(await findKeptFallbacks(["opencode", "codex"], world, { progress })).toEqual([]);
    expect(said.sort()).toEqual([
      "codex cannot take over: codex is not on PATH",
      "opencode cannot take over: opencode is not on PATH",
    ]);
  });
});

describe("a line that is needed", () => {
  it.each([
    ["command", undefined, "--reviewer command needs --reviewer-command"],
    ["acp", " ", "--reviewer acp needs --reviewer-command, and it is empty"],
  ])("is asked for by the flag it has, for a reviewer too: %s %j", async (reviewer, reviewerCommand, message) => {
    const asked = findReviewer({ reviewer, reviewerCommand, noSandbox: true }, process.env);
    await expect(asked).rejects.toMatchObject({
      code: "USAGE",
      message,
      hint: expect.stringContaining("--reviewer-command"),
    });
  });

  it("is asked for by --command otherwise", async () => {
    const asked = findRunner({ driver: "command", env: process.env, noSandbox: true });
    await expect(asked).rejects.toMatchObject({ message: "--driver command needs --command" });
  });
});
