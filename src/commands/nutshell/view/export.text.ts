import { command } from "../../../cli/command.js";
import { count, dim, size } from "../../../cli/text.js";
import { exportPage } from "./export.js";

export default command(exportPage, {
  positionals: [{ name: "bundle", about: "a .nut file or folder" }],
  flags: {
    output: { short: "o", value: "<file>", about: "where to write the page" },
    force: { about: "replace a page that is there" },
  },
  about: [
    "Writes what nutshell serve shows as one HTML file that needs no server and loads nothing from elsewhere.",
    "Credentials are never in it. Large files stay in the bundle and are named only.",
  ],
  examples: [["nutshell export task.nut -o task.html", "a page to attach to a ticket"]],
  text: ({ path, bytes, files, left }) => [
    `${path}  ${dim(`${size(bytes)}, ${count(files, "file")} inside${left > 0 ? `, ${left} named only` : ""}`)}`,
  ],
});
