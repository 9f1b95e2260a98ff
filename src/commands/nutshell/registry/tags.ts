import { z } from "zod";
import { command } from "../../../cli/command.js";
import { positional } from "../../../cli/fields.js";
import { parseReference } from "../../../registry/index.js";
import { openRegistry } from "../../../request/signatures/registry.js";

export default command({
  name: "tags",
  summary: "list the tags of a repository in a registry",
  input: z.object({ repository: positional(z.string(), { about: "oci://host/repository" }) }),
  output: z.object({ tags: z.array(z.string()) }),
  examples: [["nutshell tags oci://registry.example.org/team/task", "one tag per line"]],
  async run({ repository }, context) {
    const tags = await openRegistry(parseReference(repository), context).tags();
    // Tags that stand in for a list of referrers are no names people gave.
    return { tags: tags.filter((tag) => !/^sha256-[0-9a-f]{64}$/.test(tag)) };
  },
  text: ({ tags }) => (tags.length === 0 ? ["there are no tags"] : tags),
});
