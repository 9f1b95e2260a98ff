import { resolve } from "node:path";
import { z } from "zod";
import { readManifest } from "../../../bundle/index.js";
import { command } from "../../../cli/command.js";
import { flag } from "../../../cli/fields.js";
import { dim, table } from "../../../cli/text.js";
import { NutError, shellWord } from "../../../errors.js";
import { CLAWNET } from "./clawnet-flags.js";
import { connect } from "./connect.js";

export default command({
  name: "profile",
  summary: "tell the network your skills",
  input: z.object({
    dir: flag(z.string().default("."), { short: "d", value: "<dir>", about: "the bundle's folder (default: here)" }),
    push: flag(z.boolean().default(false), { about: "send it to the daemon" }),
    ...CLAWNET,
  }),
  output: z.object({
    skills: z.array(z.string()),
    data_sources: z.array(z.string()),
    description: z.string(),
    pushed: z.boolean(),
  }),
  about: [
    "A bundle's domains become the skills of your agent resume on ClawNet, its data sources the resume's data sources.",
  ],
  examples: [
    ["nutshell profile --dir my-task", "what a bundle would say about you"],
    ["nutshell profile --dir my-task --push", "and tell the daemon"],
  ],
  async run({ clawnet, dir, push }, context) {
    const manifest = readManifest(resolve(context.cwd, dir));
    const resume = {
      skills: manifest.tags?.domains ?? [],
      data_sources: manifest.tags?.data_sources ?? [],
      description: manifest.task?.summary ?? "",
    };
    if (push) {
      if (resume.skills.length + resume.data_sources.length === 0) {
        throw new NutError("MARKET_NOT_READY", "the bundle names no domains and no data sources", {
          hint: `nutshell set tags.domains "backend,testing" --dir ${shellWord(dir)}`,
        });
      }
      await (await connect(clawnet, context)).pushResume(resume);
    }
    return { ...resume, pushed: push };
  },
  text: ({ skills, data_sources, description, pushed }) => [
    ...table([
      ["skills", skills.join(", ") || dim("none")],
      ["data sources", data_sources.join(", ") || dim("none")],
      ["description", description || dim("none")],
    ]),
    pushed ? "sent to the daemon" : dim("nothing sent; --push sends it"),
  ],
});
