import { buffer } from "node:stream/consumers";
import { z } from "zod";
import { command } from "../../../cli/command.js";
import { positional } from "../../../cli/fields.js";
import { NutError } from "../../../errors.js";
import { isRefusal } from "../../../state/index.js";
import { callTool, describeArguments } from "../../../tools/call-tool.js";
import { toolsByHand } from "../../../tools/tools.js";

export default command({
  name: "call",
  summary: "call one of the eleven tools",
  input: z.object({
    tool: positional(z.string(), { about: "plan_start, task_add, … (nx_ in front is fine)" }),
    arguments: positional(z.string().default("{}"), { about: "its arguments as JSON, or - for standard input" }),
  }),
  output: z.unknown(),
  about: ["Prints the tool's result as JSON. Answers 1 when the tool refuses, as in: no plan is open."],
  examples: [
    ["nexus call task_list", "what there is to do"],
    ['nexus call task_update \'{"id":3,"status":"completed"}\'', "marks task 3 done"],
    ["nexus call plan_start - < plan.json", "arguments from a file"],
  ],
  details([tool = ""]) {
    const rows = describeArguments(tool);
    if (rows === null) return null;
    const none = [["(none)", "it takes no arguments"]] as const;
    return { title: `What ${tool} takes`, rows: rows.length === 0 ? none : rows };
  },
  async run({ tool, arguments: text }, context) {
    const json = text === "-" ? (await buffer(context.stdin())).toString("utf8") : text;
    let given: unknown;
    try {
      given = JSON.parse(json);
    } catch (cause) {
      throw new NutError("USAGE", `the arguments of ${tool} are not JSON`, {
        hint: `nexus call ${tool} --help`,
        cause,
      });
    }
    const { result, notes, root } = await callTool(tool, given, context, toolsByHand);
    for (const message of [...notes, `project: ${root}`]) context.progress({ type: "note", message });
    return result;
  },
  text: (result) => [JSON.stringify(result)],
  exit: (result) => (isRefusal(result) ? 1 : 0),
});
