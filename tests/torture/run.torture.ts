import { afterEach, describe, it } from "vitest";
import { dieEverywhere } from "../run/dying.js";
import { scratch, sweep } from "../run/scripted.js";

afterEach(sweep);

describe("a run", () => {
  it("dies before and after every record of its journal, and always ends in the same tree", async () => {
    await dieEverywhere(scratch(), () => ["before", "after"]);
  }, 600_000);
});
