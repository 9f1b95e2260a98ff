import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { findChain } from "../../../request/signatures/chain.js";
import { SEALED_IDENTITY } from "../flags.js";
import { LogShape, logLines, toLog } from "./log-text.js";
import { Moment } from "./signing-flags.js";

export default command({
  name: "log",
  summary: "who asked, who made, who checked: the chain of a task",
  input: z.object({
    places: positional(z.array(z.string()).min(1), {
      about: "folders with bundles, .nut files, oci://host/repository[:tag]",
    }),
    at: flag(Moment.optional(), {
      value: "<time>",
      about: "the time at which keys must have been valid (default: now)",
    }),
    ...SEALED_IDENTITY,
  }),
  output: LogShape,
  about: [
    "Reads every bundle to its end and links deliveries to requests by content, never by a name. Who is what your allowed_signers says; when is the signer's own word. What nobody signed, what counts for nothing and links that do not hold are named as that. A bundle in a folder that cannot be read is named too, and the others are read; one that you name must be readable.",
    "It runs nothing and decides nothing: nutshell verify does. From a registry every bundle is fetched, read and removed again.",
  ],
  examples: [
    ["nutshell log .", "every task whose bundles lie in this folder"],
    ["nutshell log oci://registry.example.org/team/task", "every tag of a repository"],
    ["nutshell log task.nut delivery.nut --json", "just these two, for programs"],
  ],
  async run({ places, at, identity }, context) {
    const when = at === undefined ? context.now() : new Date(at);
    return toLog(await findChain({ places, identity, at: when }, context));
  },
  text: logLines,
});
