import type { Entry } from "../../../cli/command.js";

const group = "State";
const plan = (action: "add" | "edit" | "remove" | "reopen") => async () =>
  (await import("./plan-change.js")).planChange(action);
const task = (action: "start" | "done" | "reopen") => async () => (await import("./task-set.js")).taskSet(action);

export const stateEntries: readonly Entry[] = [
  { name: "status", group, summary: "the plan, the tasks and what is ready", load: () => import("./status.text.js") },
  { name: "plan", group, summary: "the open plan", load: () => import("./plan.js") },
  { name: "plan start", group, summary: "open a plan", load: () => import("./plan-start.js") },
  { name: "plan decide", group, summary: "record a decision", load: () => import("./plan-decide.js") },
  { name: "plan add", group, summary: "add an issue to the plan", load: plan("add") },
  { name: "plan edit", group, summary: "reword an issue", load: plan("edit") },
  { name: "plan remove", group, summary: "drop an issue", load: plan("remove") },
  { name: "plan reopen", group, summary: "take a decision back", load: plan("reopen") },
  { name: "task", group, summary: "every task", load: () => import("./task.js") },
  { name: "task add", group, summary: "add a task", load: () => import("./task-add.js") },
  { name: "task start", group, summary: "a task is being worked on", load: task("start") },
  { name: "task done", group, summary: "a task is done", load: task("done") },
  { name: "task reopen", group, summary: "a task is not done after all", load: task("reopen") },
  { name: "task close", group, summary: "file the cycle in history", load: () => import("./task-close.js") },
  { name: "history", group, summary: "search closed cycles", load: () => import("./history.js") },
  { name: "context", group, summary: "what an agent is told", load: () => import("./context.js") },
  { name: "artifact", group, summary: "hand over a file", load: () => import("./artifact.text.js") },
  { name: "call", group, summary: "call one of the eleven tools", load: () => import("./call.text.js") },
  { name: "mcp", group, summary: "serve the eleven tools to an agent, over stdio", load: () => import("./mcp.js") },
  {
    name: "conformance",
    group,
    summary: "run conformance fixtures against the tools",
    load: () => import("../conformance/conformance.text.js"),
  },
  {
    name: "conformance coverage",
    group,
    summary: "check that fixtures cover every field and parameter",
    load: () => import("../conformance/coverage.text.js"),
  },
];
