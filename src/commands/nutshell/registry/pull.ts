import { resolve } from "node:path";
import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { count, green, size } from "../../../cli/text.js";
import { parseReference } from "../../../registry/index.js";
import { pullBundle } from "../../../request/signatures/registry.js";

export default command({
  name: "pull",
  summary: "fetch a bundle and its signatures from a registry",
  input: z.object({
    source: positional(z.string(), { about: "oci://host/repository:tag, or @sha256:…" }),
    output: flag(z.string().optional(), {
      short: "o",
      value: "<file>",
      about: "where it goes (default: <repository>.nut)",
    }),
    maxSize: flag(z.coerce.number().int().positive().optional(), {
      value: "<bytes>",
      about: "bytes accepted (default: 2 GiB)",
    }),
    sidecar: flag(z.boolean().default(false), { about: "put the signatures beside it, into <file>.sigs" }),
  }),
  output: z.object({ path: z.string(), digest: z.string(), bytes: z.int(), signatures: z.int() }),
  about: ["Every byte is compared with its digest on the way; what is wrong or cut leaves nothing behind."],
  examples: [["nutshell pull oci://registry.example.org/team/task:v1 -o task.nut", "then: nutshell inspect task.nut"]],
  async run({ source, output, sidecar, maxSize: maxBytes }, context) {
    const name = output ?? `${parseReference(source).repository.split("/").at(-1)}.nut`;
    return { ...(await pullBundle(source, resolve(context.cwd, name), { sidecar, maxBytes }, context)) };
  },
  text: ({ path, bytes, digest, signatures }) => [
    `${green("✓")} ${path}: ${size(bytes)}, ${count(signatures, "signature")}`,
    `  Digest: ${digest}`,
  ],
});
