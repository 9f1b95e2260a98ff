import { resolve } from "node:path";
import { z } from "zod";
import { readManifest } from "../../../bundle/index.js";
import { NutError } from "../../../errors.js";
import { operation } from "../../../operation.js";
import { connect } from "./connect.js";

export const profile = operation({
  name: "market_profile",
  summary: "what a bundle says of your skills, and with --push tell the network",
  input: z.object({ clawnet: z.string().optional(), dir: z.string().default("."), push: z.boolean().default(false) }),
  output: z.object({
    skills: z.array(z.string()),
    data_sources: z.array(z.string()),
    description: z.string(),
    pushed: z.boolean(),
  }),
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
          hint: 'nutshell set tags.domains "backend,testing"',
        });
      }
      await (await connect(clawnet, context)).pushResume(resume);
    }
    return { ...resume, pushed: push };
  },
});
