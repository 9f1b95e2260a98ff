import { z } from "zod";
import { NutError } from "../../../errors.js";
import { operation } from "../../../operation.js";
import { isRefusal } from "../../../state/index.js";
import { callTool } from "../../../tools/call-tool.js";

export { isRefusal };

export const call = operation({
  name: "call",
  summary: "call one of the eleven tools",
  input: z.object({
    tool: z.string(),
    arguments: z.string().default("{}").describe("JSON, or - to read it from standard input"),
  }),
  output: z.unknown(),
  async run({ tool, arguments: text }, context) {
    const json = text === "-" ? await readAll(context.stdin()) : text;
    let given: unknown;
    try {
      given = JSON.parse(json);
    } catch (cause) {
      throw new NutError("USAGE", `the arguments of ${tool} are not JSON`, {
        hint: `nexus call ${tool} '{}'`,
        cause,
      });
    }
    const { result, notes, root } = await callTool(tool, given, context);
    for (const message of [...notes, `project: ${root}`]) context.progress({ type: "note", message });
    return result;
  },
});

export async function readAll(stream: AsyncIterable<Uint8Array | string>): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(Buffer.from(part));
  return Buffer.concat(parts).toString("utf8");
}
