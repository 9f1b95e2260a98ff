// Whichever agents of the protocol can be had here, each once: a role that edits and has our tools, then one that may not
// edit, in the same session where the agent can continue one. The table in docs/drivers.md says what comes of it.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import type { McpServer } from "../../src/drivers/index.js";
import { type ScriptedModel, scriptedModel } from "../hosts/scripted-model/server.js";
import { ACP_PROGRAMS, type AcpProgram, meetTrouble, settingsFor } from "./acp-programs.js";
import { pathWith } from "./clients.js";
import { type Desk, desk } from "./desk.js";
import { sequence } from "./sequence.js";

let at: Desk;
let model: ScriptedModel;
afterEach(async () => {
  at.remove();
  await model.close();
});

const echo = (): McpServer => ({
  name: "echo",
  command: process.execPath,
  args: [fileURLToPath(new URL("echo-server.mjs", import.meta.url))],
  env: { ECHO_FILE: join(at.home, "echo.txt") },
});
/** What was asked last, but for a title of the session, which some agents ask for beside it and without tools. */
const asked = () => model.requests.findLast(({ tools }) => tools.length > 0)!;
const offered = () => asked().tools.map(({ name }) => name);

async function open({ name, command, write, env }: AcpProgram) {
  at = desk();
  const made = join(at.cwd, "made.txt");
  const steps = [{ tool: /echo$/, args: { text: "hi" } }, write(made, "made\n"), "all done"];
  // A program that lost an answer on a busy machine asks once more.
  const last = { name: "asked again", reply: ["could not"] };
  model = await scriptedModel([...sequence(...steps, write(made, "changed\n"), "could not"), last]);
  at.put(settingsFor(model.url));
  const around = { PATH: pathWith(name)!, HOME: join(at.folder, "person"), ...env(model.url) };
  const hasTools = () => existsSync(join(at.home, "echo.txt.asked"));
  return { env: around, command, mcpServers: [echo()], hasTools, timeoutMs: 100_000 };
}

for (const agent of ACP_PROGRAMS) {
  const { name, writing, resumes } = agent;
  describe.skipIf(pathWith(name) === null)(`${name} over the protocol (needs the real program)`, () => {
    it("logs in, has our tools, works in its role, and is held to the next one", async () => {
      const request = await open(agent);
      const end = await at.run("acp", request);
      expect(end).toMatchObject({ outcome: "completed", text: "all done" });
      const said = model.requests.map(({ any }) => any).join();
      for (const words of ["You are the engineer.", "Do the task."]) expect(said).toContain(words);
      expect(readFileSync(join(at.home, "echo.txt"), "utf8")).toBe("echo hi\n");
      expect(readFileSync(join(at.cwd, "made.txt"), "utf8")).toBe("made\n");
      // Of a model that Codex does not know it says so.
      expect(at.of("warning").filter(({ message }) => !message.startsWith("Model metadata"))).toEqual([]);

      const role = { rolePrompt: "You are the reviewer.", taskPrompt: "Look again." };
      const held = { ...request, ...role, may: { edit: false, shell: false }, resume: end.sessionId! };
      const again = await at.run("acp", held);
      const isUntouched = () =>
        expect([readdirSync(at.cwd), readFileSync(join(at.cwd, "made.txt"), "utf8")]).toEqual([["made.txt"], "made\n"]);
      if (!resumes) {
        // It finds a session again now and then, as its own timing has it; where not, a new one is held as well.
        if (again.outcome === "completed") return isUntouched();
        expect(again).toMatchObject({ outcome: "failed", trouble: { kind: "session" } });
        const { resume: _, ...fresh } = held;
        const anew = await at.run("acp", fresh);
        expect(anew).toMatchObject({ outcome: "completed", text: expect.stringContaining("could not") });
        expect(offered().filter((tool) => writing.test(tool))).toEqual([]);
        return isUntouched();
      }
      expect(again).toMatchObject({ outcome: "completed", sessionId: end.sessionId });
      // What was said before is no news, although some replay it.
      expect([again.text.includes("could not"), again.text.includes("all done")]).toEqual([true, false]);
      const last = asked().any;
      // Its own last words a program may not have kept yet when it was ended.
      for (const words of ["You are the reviewer.", "Do the task.", "Look again."]) expect(last).toContain(words);
      expect(offered().filter((tool) => writing.test(tool))).toEqual([]);
      isUntouched();
    }, 240_000);

    it("says what stands in its way, and that is no work", async () => {
      const [fail, kind] = agent.trouble;
      const met = await meetTrouble(agent, fail);
      ({ at, model } = met);
      expect([met.end.outcome, met.end.trouble?.kind], met.end.error).toEqual(["failed", kind]);
    }, 120_000);
  });
}
