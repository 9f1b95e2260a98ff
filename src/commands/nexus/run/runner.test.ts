import { describe, expect, it } from "vitest";
import { findFallbacks, findKeptFallbacks } from "./runner.js";

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
