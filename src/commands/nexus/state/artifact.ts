import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { buffer } from "node:stream/consumers";
import { z } from "zod";
import { command } from "../../../cli/command.js";
import { positional } from "../../../cli/fields.js";
import { fromSystemError } from "../../../errors.js";
import { artifactWrite } from "../../../tools/artifact-write.js";
import { useTool } from "./use-tool.js";

/** artifact_write for people, whose content is in a file already. */
export default command({
  name: "artifact",
  summary: "hand over a file",
  input: z.object({
    filename: positional(z.string(), { about: "its name among the artifacts" }),
    source: positional(z.string().default("-"), { about: "the file to take it from, or - for standard input" }),
  }),
  output: artifactWrite.output,
  examples: [["nexus artifact findings.md - < notes.md", "hands over a file"]],
  async run({ filename, source }, context) {
    const bytes = source === "-" ? await buffer(context.stdin()) : read(resolve(context.cwd, source));
    return useTool(artifactWrite, { filename, content: bytes.toString("utf8") }, context);
  },
  text: ({ path }) => [path],
});

function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
}
