import { command } from "../../../cli/command.js";
import { dim, table } from "../../../cli/text.js";
import { CLAWNET } from "./clawnet-flags.js";
import { profile } from "./profile.js";

export default command(profile, {
  about: [
    "A bundle's domains become the skills of your agent resume on ClawNet, its data sources the resume's data sources.",
  ],
  flags: {
    dir: { short: "d", value: "<dir>", about: "the bundle's folder (default: here)" },
    push: { about: "send it to the daemon" },
    ...CLAWNET,
  },
  examples: [
    ["nutshell profile --dir my-task", "what a bundle would say about you"],
    ["nutshell profile --dir my-task --push", "and tell the daemon"],
  ],
  text: ({ skills, data_sources, description, pushed }) => [
    ...table([
      ["skills", skills.join(", ") || dim("none")],
      ["data sources", data_sources.join(", ") || dim("none")],
      ["description", description || dim("none")],
    ]),
    pushed ? "sent to the daemon" : dim("nothing sent; --push sends it"),
  ],
});
