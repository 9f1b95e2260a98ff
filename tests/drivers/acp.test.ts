import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Desk, desk } from "./desk.js";

const AGENT = fileURLToPath(new URL("acp-agent.mjs", import.meta.url));
const command = (ability = "") => `${process.execPath} ${AGENT} ${ability}`;

let at: Desk;
beforeEach(() => {
  at = desk();
});
afterEach(() => at.remove());

const notes = () =>
  Object.assign(
    {},
    ...readFileSync(join(at.home, "notes"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  );

describe("the acp driver", () => {
  it("answers questions by the role's limits and the option's kind", async () => {
    const end = await at.run("acp", {
      command: command(),
      may: { edit: false, shell: true },
      deniedTools: ["nx.nx_task_add"],
    });
    expect(end).toMatchObject({
      outcome: "completed",
      sessionId: "acp-1",
      text: "all done",
      usage: { inputTokens: 10, outputTokens: 5 },
    });
    expect(at.of("question").map(({ text, answer }) => `${text} ${answer}`)).toEqual([
      "may it Edit a.txt? refused",
      "may it ls? allowed",
      "may it Read a.txt? allowed",
      "may it nx_task_add? refused",
    ]);
    expect(at.of("file")).toEqual([]);
    expect(at.of("message").map(({ text }) => text)).toEqual(["let me see", "all done"]);
    expect(notes().initialize).toMatchObject({ fs: { readTextFile: false, writeTextFile: false }, terminal: false });
    // An agent that knows no other way gets its role ahead of the task.
    expect(notes().prompt).toBe("You are the engineer.\n\nDo the task.");
  });

  it("lets an agent say nothing to the terminal, whatever it writes between its messages", async () => {
    const said: unknown[] = [];
    const spies = (["error", "warn", "log"] as const).map((name) =>
      vi.spyOn(console, name).mockImplementation((...words) => void said.push(...words)),
    );
    const end = await at.run("acp", { command: command("loud") });
    for (const spy of spies) spy.mockRestore();
    expect([end.text, said]).toEqual(["all done", []]);
  });

  it("hears of files when it may edit", async () => {
    await at.run("acp", { command: command() });
    expect(at.of("file")).toEqual([{ type: "file", path: "/w/a.txt", change: "modified" }]);
  });

  it("resumes, or loads without taking the history for news", async () => {
    expect(await at.run("acp", { command: command(), resume: "acp-7" })).toMatchObject({
      outcome: "completed",
      sessionId: "acp-7",
    });
    expect(notes().resume).toBe("acp-7");
    expect(await at.run("acp", { command: command("load"), resume: "acp-8" })).toMatchObject({
      text: "all done",
      sessionId: "acp-8",
    });
    expect(notes().load).toBe("acp-8");
    expect(at.of("message").some(({ text }) => text.includes("history"))).toBe(false);
  });

  it("cancels, and ends at its time limit", async () => {
    const session = await at.start("acp", { command: command("hang") });
    await until(() => at.of("session").length > 0);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await session.cancel()).toMatchObject({ outcome: "cancelled", text: "half" });
    expect(await at.run("acp", { command: command("hang"), timeoutMs: 1_500 })).toMatchObject({ outcome: "timeout" });
  });

  it.each([
    ["crash", /closed|exit 9/i],
    ["early", "its turn ended early (max_turn_requests)"],
  ])("calls %s a failure", async (ability, error) => {
    const end = await at.run("acp", { command: command(ability) });
    expect(end).toMatchObject({ outcome: "failed" });
    expect(end.error).toMatch(error);
  });

  it("logs in when it is asked to, with what needs no person; otherwise it says that the login is missing", async () => {
    at.install("gemini", '#!/bin/sh\nexec "$1" "$2" auth\n');
    const env = { PATH: `${at.folder}/bin:${process.env.PATH}`, HOME: `${at.folder}/person` };
    const end = await at.run("acp", {
      command: `FOO=1 gemini ${process.execPath} ${AGENT}`,
      env: { ...env, GEMINI_API_KEY: "k" },
    });
    expect(end).toMatchObject({ outcome: "completed", text: "all done" });
    expect(notes()).toMatchObject({ authenticate: "gemini-api-key", foo: "1" });
    // Another version than the one that was tried is told, and so is an agent nobody tried.
    expect(at.of("warning").map(({ message }) => message)).toContain("gemini 9.9.9 was not tried; 0.61.0 was");
    await at.run("acp", { command: command() });
    expect(at.of("warning").at(-1)?.message).toContain("is no agent that was tried");
    expect(await at.run("acp", { command: `gemini ${process.execPath} ${AGENT}`, env })).toMatchObject({
      outcome: "failed",
      trouble: { kind: "login" },
    });
  });

  it("is not asked anything before it knows our tools", async () => {
    let asked = 0;
    const hasTools = () => {
      asked += 1;
      // It has not been prompted yet.
      expect(notes().prompt).toBeUndefined();
      return asked > 3;
    };
    const mcpServers = [{ name: "nx", command: "true", args: [], env: {} }];
    expect(await at.run("acp", { command: command(), mcpServers, hasTools })).toMatchObject({ outcome: "completed" });
    expect(asked).toBeGreaterThan(3);
  });

  it("says when the program is not there", async () => {
    await expect(at.run("acp", { command: "no-such-agent --acp" })).rejects.toMatchObject({
      code: "DRIVER_MISSING",
      message: "no-such-agent is not on PATH",
    });
  });
});

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 500 && !condition(); i += 1) await new Promise((resolve) => setTimeout(resolve, 20));
}
