// `nexus run` of one request, which is also what the library offers.
import { z } from "zod";
import { positional } from "../../../cli/fields.js";
import type { Operation } from "../../../operation.js";
import { prepareRun, runFlags } from "./prepare-run.js";
import { RunResult } from "./result.js";

const input = z.object({
  request: positional(z.string(), { about: "a request bundle (.nut) or its folder" }),
  ...runFlags,
});

export const runOne: Operation<typeof input, typeof RunResult> = {
  name: "run",
  summary: "request in, verified delivery out",
  input,
  output: RunResult,
  async run(asked, context) {
    const ready = await prepareRun(asked, context);
    return asked.dryRun ? ready.preview() : ready.start(context);
  },
};
