import { command } from "../../../cli/command.js";
import { runResume } from "./resume.js";
import { runExit, runText } from "./run-text.js";

export default command(runResume, {
  positionals: [
    { name: "run", about: "its id or the beginning of it; by default the latest that can go on", optional: true },
  ],
  flags: {
    budget: { value: "<limits>", many: true, about: "new limits, such as time=20m" },
    answer: { value: "<text>", about: "what the next try of a failed task should do differently" },
    deliver: { about: "deliver what is there instead of trying again" },
    yes: { short: "y", about: "do not ask from now on" },
  },
  about: ["Finished tasks stay finished; nothing is done twice, however the run ended."],
  examples: [
    ["nexus resume", "the latest run that can go on"],
    ['nexus resume 20260314-10 --answer "the date is in UTC"', "answers a question and tries again"],
  ],
  stream: true,
  text: runText,
  exit: runExit,
});
