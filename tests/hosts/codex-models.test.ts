// Nexus inside the real Codex with the models it ships: nearly all of them run their tools from a script ("code mode") and
// have the second generation of agents.
import { afterEach, beforeAll, describe, it } from "vitest";
import { clientProgram } from "./clients.js";
import { byItself, everyRole, FIRST, fromScript, SECOND } from "./codex-generations.js";

let program: string | null;
let close = async () => {};

beforeAll(() => {
  program = clientProgram("codex");
}, 300_000);

afterEach(() => close());

/** One of each kind; tests/torture/hosts.torture.ts has all the others. */
const GENERATIONS = { "gpt-6.1-sol": SECOND, "gpt-5.6-luna": FIRST(fromScript), "gpt-5.5": FIRST(byItself) };

describe.each(Object.entries(GENERATIONS))("inside Codex, with %s", { timeout: 180_000 }, (slug, generation) => {
  it("holds Lead, an engineer and a tester to what they may, and the tester again when it goes on after its end", async () => {
    if (program === null) throw new Error("codex could not be installed");
    await everyRole(program, slug, generation, ({ place, model }) => {
      close = async () => {
        await model.close();
        place.remove();
      };
    });
  });
});
