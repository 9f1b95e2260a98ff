import { z } from "zod";
import { diffContents } from "../../../bundle/index.js";
import { operation } from "../../../operation.js";
import { openTarget } from "../../../request/target.js";

export const diff = operation({
  name: "bundle_diff",
  summary: "compare two bundles or folders",
  input: z.object({
    a: z.string().min(1).describe("a .nut file, a folder, or - for standard input"),
    b: z.string().min(1),
    text: z.boolean().default(false),
  }),
  output: z.array(
    z.object({
      field: z.string(),
      a: z.string(),
      b: z.string(),
      kind: z.enum(["added", "removed", "changed", "acceptance"]),
      path: z.string().optional(),
      text: z.array(z.string()).optional(),
    }),
  ),
  async run({ a, b, text }, context) {
    const left = await openTarget(a, context);
    try {
      const right = await openTarget(b, context);
      try {
        const rows = await diffContents(left, right, { text });
        return rows.map(({ text: lines, ...row }) => ({
          ...row,
          ...(lines === undefined ? {} : { text: [...lines] }),
        }));
      } finally {
        await right.close();
      }
    } finally {
      await left.close();
    }
  },
});
