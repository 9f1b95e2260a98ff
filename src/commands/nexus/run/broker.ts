import { z } from "zod";
import { serveBroker } from "../../../broker/index.js";
import { rawCommand } from "../../../cli/command.js";

export default rawCommand({
  name: "broker",
  summary: "lends credentials to the agents of a run; nexus run starts it",
  hidden: true,
  input: z.object({}),
  examples: [["nexus run task.nut", "starts it where a credential can be lent"]],
  about: [
    "Reads what it lends, and to whom, from standard input, and ends when that does. Started by hand it does nothing.",
  ],
  async run(_input, io) {
    await serveBroker(io.stdin(), io.stdout);
    return 0;
  },
});
