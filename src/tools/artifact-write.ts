import { z } from "zod";
import { writeArtifact } from "../state/index.js";
import { tool, Words } from "./tool.js";

export const artifactWrite = tool({
  name: "artifact_write",
  summary: "hand over a file: written to .nexus/state/artifacts",
  guidance: "For reports and findings, not for the project's own files; overwrites a file of the same name.",
  input: z.object({ filename: Words.describe("such as findings.md"), content: Words }),
  output: z.object({ success: z.boolean(), path: z.string() }),
  idempotent: true,
  destructive: true,
  run: (project, { filename, content }) => writeArtifact(project, filename, content),
});
