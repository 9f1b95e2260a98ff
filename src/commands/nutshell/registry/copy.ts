import { join } from "node:path";
import { z } from "zod";
import { command } from "../../../cli/command.js";
import { positional } from "../../../cli/fields.js";
import { count, green } from "../../../cli/text.js";
import { withWorkFolder } from "../../../request/open/work-folder.js";
import { copyBundle } from "../../../request/signatures/registry.js";

export default command({
  name: "copy",
  summary: "copy a bundle and its signatures between registries",
  input: z.object({
    from: positional(z.string(), { about: "oci://host/repository:tag" }),
    to: positional(z.string(), { about: "oci://host/repository:tag" }),
  }),
  output: z.object({
    digest: z.string(),
    how: z.enum(["mounted", "present", "sent"]).describe("mounted or present: the archive did not travel"),
    signatures: z.int(),
  }),
  about: ["Within one registry the archive is not sent again: the registry shares it between repositories."],
  examples: [["nutshell copy oci://one.example.org/task:v1 oci://two.example.org/task:v1", "digests stay the same"]],
  run: ({ from, to }, context) =>
    withWorkFolder(context, async (folder) => ({ ...(await copyBundle(from, to, join(folder, "blob"), context)) })),
  text: ({ digest, how, signatures }) => [
    `${green("✓")} ${how === "sent" ? "sent" : how === "mounted" ? "shared within the registry" : "was there already"}, ${count(signatures, "signature")}`,
    `  Digest: ${digest}`,
  ],
});
