// Agents that break the protocol: none of it is work, none of it reaches the terminal, and none of it is waited for long.
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { SessionRequest } from "../../src/drivers/index.js";
import { type Desk, desk } from "./desk.js";

const AGENT = fileURLToPath(new URL("acp-broken-agent.mjs", import.meta.url));

let at: Desk;
beforeEach(() => {
  at = desk();
  at.install("gemini", `#!/bin/sh\nexec ${process.execPath} ${AGENT} "$WAY"\n`);
});
afterEach(() => at.remove());

/** Without a sandbox: it is about what is said, and forty starts are quicker so. */
async function meet(way: string, request: Partial<SessionRequest> = {}) {
  const said: unknown[] = [];
  const spies = (["error", "warn", "log"] as const).map((name) =>
    vi.spyOn(console, name).mockImplementation((...words) => void said.push(...words)),
  );
  const end = await at.run("acp", {
    command: "gemini --acp",
    env: { PATH: `${at.folder}/bin:${process.env.PATH}`, HOME: `${at.folder}/person`, GEMINI_API_KEY: "k" },
    extraEnv: { WAY: way },
    sandbox: "off",
    timeoutMs: 30_000,
    patienceMs: 10_000,
    ...request,
  });
  for (const spy of spies) spy.mockRestore();
  expect(said).toEqual([]);
  return end;
}

describe("an agent that", () => {
  it.each<[string, string | undefined, RegExp, Partial<SessionRequest>?]>([
    ["dies at once", "transport", /^it went away: /],
    ["dies with a word", "transport", /^it went away: Error: needs Node 22$/],
    ["says nothing", "transport", /^it did not answer initialize in 0\.7 s$/, { patienceMs: 700 }],
    ["answers with a page", "transport", /^it did not answer initialize/, { patienceMs: 700 }],
    ["answers null", "transport", /^what it answers to initialize cannot be read$/],
    ["speaks another version", undefined, /^it speaks version 99 of the protocol; 1 is needed$/],
    ["writes one endless line", "transport", /limit$/],
    ["refuses the login", "login", /^no: not this key$/],
    ["is silent at the login", "login", /^it did not answer authenticate/, { patienceMs: 1_500 }],
    ["opens a session without a name", "transport", /^it opened a session without a name$/],
    ["has no such model", "model", /^no model b: not among the values$/, { model: "b" }],
    ["dies in its turn", "transport", /^it went away: /],
    ["answers no answer", "transport", /^Invalid request$/],
    ["does not say how it ended", "transport", /^it does not say how its turn ended$/],
    ["cancels by itself", undefined, /^its turn ended early \(cancelled\)$/],
    ["tells a limit as text", "limit", /^Internal error: 429 rate limit/],
    ["ends with a failure in a field", "overload", /^try later$/],
    ["tries again without end", "transport", /^attempt 1$/, { patienceMs: 700 }],
  ])("%s has failed, and not over its work", async (way, kind, words, request) => {
    const end = await meet(way, request);
    expect(end.outcome).toBe("failed");
    expect([end.trouble?.kind, end.error]).toEqual([kind, expect.stringMatching(words)]);
    if (way === "tells a limit as text") expect(end.trouble).toEqual({ kind: "limit", retryAfterMs: 12_000 });
    if (way !== "ends with a failure in a field") return;
    expect(at.of("waiting")).toEqual([{ type: "waiting", why: "overload", message: "attempt 1 of 3" }]);
    expect(at.of("warning").map(({ message }) => message)).toContain("a note");
  });

  it("sends what it likes is heard as far as it makes sense", async () => {
    const end = await meet("sends what it likes", { model: "b" });
    expect(end).toMatchObject({ outcome: "completed", text: "all done", usage: { inputTokens: 0, outputTokens: 0 } });
    // A model was asked for, and nobody could choose one.
    expect(at.of("warning").map(({ message }) => message)).toContain(
      "the agent lets nobody choose its model: b is not asked for",
    );
  });

  it("floods is cut short", async () => {
    const end = await meet("floods");
    expect(end.outcome).toBe("completed");
    expect(end.text.length).toBe(1024 * 1024);
  });

  it("[P6] asks for what it may not have does not get it, whatever it calls it", async () => {
    const mcpServers = [{ name: "nx", command: "true", args: [], env: {} }];
    const ask = "asks for what it may not have";
    const reader = await meet(ask, { may: { edit: false, shell: false }, mcpServers });
    expect(reader.text).toBe("reject_once reject_once reject_once allow_once allow_once no no");
    const engineer = await meet(ask, { mcpServers });
    expect(engineer.text).toBe("allow_once allow_once allow_once allow_once allow_once no no");
  });
});
