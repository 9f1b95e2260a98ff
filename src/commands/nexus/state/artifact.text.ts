import { command } from "../../../cli/command.js";
import { artifactFrom } from "./artifact.js";

export default command(artifactFrom, {
  positionals: [
    { name: "filename", about: "its name among the artifacts" },
    { name: "source", about: "the file to take it from, or - for standard input", optional: true },
  ],
  examples: [["nexus artifact findings.md - < notes.md", "hands over a file"]],
  text: ({ path }) => [path],
});
