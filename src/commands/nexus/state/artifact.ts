import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { fromSystemError } from "../../../errors.js";
import { operation } from "../../../operation.js";
import { artifactWrite } from "../../../tools/artifact-write.js";
import { readAll } from "./call.js";
import { verb } from "./verb.js";

const write = verb(artifactWrite);

/** artifact_write for people, whose content is in a file already. */
export const artifactFrom = operation({
  name: "artifact",
  summary: artifactWrite.summary,
  input: z.object({ filename: z.string(), source: z.string().default("-") }),
  output: artifactWrite.output,
  async run({ filename, source }, context) {
    const content = source === "-" ? await readAll(context.stdin()) : read(resolve(context.cwd, source));
    return write.run({ filename, content }, context);
  },
});

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
}
