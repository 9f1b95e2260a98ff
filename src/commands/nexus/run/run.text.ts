import { command } from "../../../cli/command.js";
import { runStart } from "./run.js";
import { runExit, runText } from "./run-text.js";

export default command(runStart, {
  positionals: [{ name: "request", about: "a request bundle (.nut) or its folder" }],
  flags: {
    driver: { value: "<name>", about: "what runs the agents: demo, codex, claude, opencode, acp, command" },
    command: { value: "<line>", about: "the program for --driver acp or command" },
    model: { value: "<name>", about: "the model, in the agent program's own words" },
    repo: { value: "<dir>", about: "work in a clone of this git repository; the checkout itself is only read" },
    plan: { value: "<file>", about: "a plan to follow, or who plans: lead, default" },
    jobs: { short: "j", value: "<n>", about: "how many agents may work at the same time" },
    budget: {
      value: "<limits>",
      many: true,
      about: "such as time=10m,tokens=200k,cost=2.5 (also agent=, stall=, loop=)",
    },
    "review-plan": { about: "stop and let a person read the plan before anything is done" },
    output: { short: "o", value: "<file>", about: "where the delivery goes" },
    identity: {
      short: "i",
      value: "<file>",
      many: true,
      about: "age identity that opens the request's vault (default: none, it stays closed)",
    },
    yes: { short: "y", about: "do not ask: deliver what is there when a task fails for good" },
    force: { about: "work on a request that nutshell check does not call ready" },
    "dry-run": { about: "show plan, roles, limits and commands; start nothing" },
  },
  about: [
    "Opens the request, has agents do its tasks in their roles, checks what they leave, runs the request's own tests itself and packs what was really done.",
    "A run that is stopped, killed or over its budget goes on with nexus resume. Exit 0: delivered and completed; 1: delivered otherwise, or paused; 130, 143: interrupted, and resumable.",
  ],
  examples: [
    ["nexus run task.nut", "with the demo agent, or the program .nexus/config.yml names"],
    ["nexus run task.nut --driver codex --budget time=30m,tokens=500k", "with Codex, within limits"],
    ["nexus run task.nut --repo . --driver claude -o done.nut", "on a clone of this repository"],
    ["nexus run task.nut --dry-run", "what would happen"],
  ],
  stream: true,
  text: runText,
  exit: runExit,
});
