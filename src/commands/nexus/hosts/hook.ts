import { z } from "zod";
import { rawCommand } from "../../../cli/command.js";
import { positional } from "../../../cli/fields.js";
import { hookMain } from "../../../hook/main.js";

export default rawCommand({
  name: "hook",
  summary: "answer an event of a host (hosts call this)",
  input: z.object({
    host: positional(z.string(), { about: "claude, codex, opencode, qwen or gemini" }),
    event: positional(z.string().optional(), {
      about: "the host's own name of the event, in case the payload cannot be read",
    }),
  }),
  about: [
    "Reads one event of a host as JSON from standard input and answers in the host's own shape.",
    "Exits 0 or 2 and nothing else; 2 means: denied, because it could not be decided.",
    "Hosts start it through what nexus setup writes. Where Node runs nexus, that leads to dist/hook/hook.js, which is the same without the command line.",
  ],
  examples: [["nexus hook claude PreToolUse < payload.json", "answer one event of Claude Code"]],
  // hookMain ends the process itself: nothing may keep a host waiting after the answer.
  async run({ host, event }) {
    await hookMain(event === undefined ? [host] : [host, event]);
    return 0;
  },
});
