import { resolve } from "node:path";
import { z } from "zod";
import { command } from "../../../cli/command.js";
import { positional } from "../../../cli/fields.js";
import { statementFor } from "../../../request/signatures/sign-bundle.js";

export default command({
  name: "statement",
  summary: "print what sign would sign, for tools that sign elsewhere",
  input: z.object({ bundle: positional(z.string(), { about: "a .nut file, or a folder" }) }),
  output: z.object({
    says: z.enum(["request", "delivery"]),
    content_digest: z.string(),
    statement: z.record(z.string(), z.unknown()).describe("in-toto Statement v1"),
  }),
  about: [
    "One line of JSON, an in-toto Statement about the content digest. A tool that puts it into a DSSE envelope with a Sigstore certificate makes a bundle that nutshell attach adds and nutshell verify --sigstore-root looks at.",
  ],
  examples: [["nutshell statement task.nut > statement.json", "then sign it elsewhere, and: nutshell attach"]],
  async run({ bundle }, context) {
    const { kind, digest, statement } = await statementFor(resolve(context.cwd, bundle), null, context);
    return { says: kind, content_digest: digest, statement: statement as unknown as Record<string, unknown> };
  },
  text: ({ statement }) => [JSON.stringify(statement)],
});
