import { resolve } from "node:path";
import { z } from "zod";
import { command } from "../../../cli/command.js";
import { positional } from "../../../cli/fields.js";
import { count, green, size } from "../../../cli/text.js";
import { pushBundle } from "../../../request/signatures/registry.js";

export default command({
  name: "push",
  summary: "put a bundle and its signatures into a registry",
  input: z.object({
    bundle: positional(z.string(), { about: "a .nut file" }),
    target: positional(z.string(), { about: "oci://host/repository:tag" }),
  }),
  output: z.object({
    target: z.string(),
    digest: z.string().describe("of the manifest in the registry"),
    content_digest: z.string().nullable().describe("null for an archive of more than 64 MiB"),
    bytes: z.int(),
    uploaded: z.boolean().describe("false: the registry had the archive already"),
    signatures: z.int(),
  }),
  about: [
    "Any registry of OCI images holds it. The archive is sent in pieces, and goes on where a broken connection left off; signatures are entered as referrers, or under a tag where the registry knows none.",
    "A damaged bundle is refused. An archive of more than 64 MiB is sent without being read whole: nutshell validate does that.",
    "Logins are Docker's own: ~/.docker/config.json and its credential helpers. Plain http is spoken to this machine only.",
  ],
  examples: [["nutshell push task.nut oci://registry.example.org/team/task:v1", "then: nutshell pull"]],
  async run({ bundle, target }, context) {
    const { contentDigest, ...pushed } = await pushBundle(resolve(context.cwd, bundle), target, context);
    return { target, content_digest: contentDigest, ...pushed };
  },
  text: ({ target, digest, content_digest: content, bytes, uploaded, signatures }) => [
    `${green("✓")} ${target}: ${size(bytes)}${uploaded ? "" : ", which was there already"}, ${count(signatures, "signature")}`,
    `  Digest: ${digest}`,
    ...(content === null ? [] : [`  Content: ${content}`]),
  ],
});
