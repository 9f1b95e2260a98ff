import { createHash } from "node:crypto";
import { existsSync, lstatSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { count, size } from "../../../cli/text.js";
import { NutError, shellWord } from "../../../errors.js";
import { replaceFiles } from "../../../files/index.js";
import { findRun, RunReader, readOptions, runFolder, runIds, runsFolder } from "../../../run/index.js";
import { openProject } from "../../../state/index.js";
import { collectorOf, otlp, sendSpans, spansOf, tracesAt, trajectory } from "../../../traces/index.js";
import { VERSION } from "../../../version.js";
import { promptIn, traceOf } from "./trace-of.js";

export default command({
  name: "export",
  summary: "a run as a trace: OpenTelemetry spans, or an ATIF trajectory",
  input: z.object({
    run: positional(z.string().min(1), {
      about: "a run's id or the beginning of it, or a delivery (.nut) that a run here made",
    }),
    otlp: flag(z.boolean().default(false), { about: "OpenTelemetry spans by the GenAI conventions, as OTLP/JSON" }),
    atif: flag(z.boolean().default(false), { about: "a trajectory in Harbor's Agent Trajectory Interchange Format" }),
    content: flag(z.boolean().default(false), {
      about: "with what agents were told and said; secrets of the vault are out of it already",
    }),
    output: flag(z.string().min(1).optional(), { short: "o", value: "<file>", about: "where it goes" }),
    to: flag(z.string().min(1).optional(), {
      value: "<url>",
      about: "with --otlp: to this collector instead, such as http://127.0.0.1:4318",
    }),
    force: flag(z.boolean().default(false), { about: "replace a file that is there" }),
  }),
  output: z.object({
    run: z.string(),
    format: z.enum(["otlp", "atif"]),
    path: z.string().optional(),
    bytes: z.int().optional(),
    to: z.string().optional(),
    spans: z.int().optional(),
    steps: z.int().optional(),
  }),
  about: [
    "A run is a workflow span, each agent session an agent span in it, with a span for every tool call and every message; criteria are evaluation events. Programs are watched from outside, so a step begins where the one before it ended, and tokens are a session's sum.",
    "With OTEL_EXPORTER_OTLP_ENDPOINT set, nexus run and nexus resume send the same spans to that collector as agents end (http with JSON; OTEL_EXPORTER_OTLP_HEADERS is honoured). What agents said is left out unless --content, or OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true, asks for it.",
  ],
  examples: [
    ["nexus export 20260314-10 --otlp -o run.json", "spans for any viewer of OTLP"],
    ["nexus export delivery.nut --otlp --to http://127.0.0.1:4318", "to a collector on this machine"],
    ["nexus export 20260314-10 --atif --content -o trajectory.json", "for viewers and training, with what was said"],
  ],
  async run(input, context) {
    const { otlp: asSpans, atif: asTrajectory, output, to, force, content } = input;
    if (asSpans === asTrajectory) {
      throw new NutError("USAGE", "say one of --otlp and --atif", {
        hint: `nexus export ${shellWord(input.run)} --otlp`,
      });
    }
    if (to !== undefined && (asTrajectory || output !== undefined)) {
      throw new NutError("USAGE", "--to goes with --otlp, and instead of a file", {
        hint: `nexus export ${shellWord(input.run)} --otlp --to http://127.0.0.1:4318`,
      });
    }
    const runs = runsFolder(openProject(context.cwd, { env: context.env }).root);
    const id = runMeant(runs, input.run, context.cwd);
    const folder = runFolder(runs, id, false);
    const trace = traceOf(folder, readOptions(folder), content);
    if (to !== undefined) {
      const spans = spansOf(trace);
      const headers = collectorOf({ ...context.env, OTEL_EXPORTER_OTLP_ENDPOINT: to })?.headers ?? {};
      const url = tracesAt(to);
      await sendSpans(otlp(spans, trace, VERSION), { url, headers }, context.signal);
      return { run: id, format: "otlp" as const, to: url, spans: spans.length };
    }
    const path = resolve(context.cwd, output ?? `${id}.${asSpans ? "otlp" : "trajectory"}.json`);
    if (!force && existsSync(path)) {
      throw new NutError("FILE_EXISTS", `${path} is there already`, {
        hint: `nexus export ${shellWord(input.run)} ${asSpans ? "--otlp" : "--atif"} -o ${shellWord(path)} --force`,
      });
    }
    const document = asSpans
      ? otlp(spansOf(trace), trace, VERSION)
      : trajectory({ ...trace, promptOf: promptIn(folder), version: VERSION });
    const data = Buffer.from(`${JSON.stringify(document, null, 2)}\n`);
    replaceFiles([{ path, data }]);
    const written = { run: id, path, bytes: data.length };
    if ("steps" in document) return { ...written, format: "atif" as const, steps: document.steps.length };
    return { ...written, format: "otlp" as const, spans: document.resourceSpans[0]!.scopeSpans[0]!.spans.length };
  },
  text: ({ path, bytes, to, spans, steps }) => {
    const what = spans === undefined ? count(steps ?? 0, "step") : count(spans, "span");
    return [path === undefined ? `${what} sent to ${to}` : `${path}  ${what}, ${size(bytes ?? 0)}`];
  },
});

/** A delivery means the run here that made exactly this file. */
function runMeant(runs: string, word: string, cwd: string): string {
  const path = resolve(cwd, word);
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return findRun(runs, word);
  const hash = `sha256:${createHash("sha256").update(readFileSync(path)).digest("hex")}`;
  const made = runIds(runs).findLast((id) => new RunReader(runs, id).read().state.delivered?.hash === hash);
  if (made !== undefined) return made;
  throw new NutError("RUN_NOT_FOUND", `no run here made ${word}`, {
    hint: "nexus runs; a trace is kept with the run, so export it in the project where it was made",
    data: { path },
  });
}
