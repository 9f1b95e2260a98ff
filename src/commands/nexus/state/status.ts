import { z } from "zod";
import { command } from "../../../cli/command.js";
import { bold, count, cyan, dim, green, red, yellow } from "../../../cli/text.js";
import { NutError } from "../../../errors.js";
import {
  DEFAULT_HARNESS_ID,
  type Document,
  historyFile,
  neverReady,
  type Project,
  planFile,
  summarize,
  tasksFile,
  trackedAgents,
} from "../../../state/index.js";
import { projectOf } from "../../../tools/tool.js";

const MOST = 12;

const Line = z.object({ id: z.int(), title: z.string() });
type Line = z.infer<typeof Line>;

export default command({
  name: "status",
  summary: "the plan, the tasks and what is ready",
  input: z.object({}),
  output: z.object({
    root: z.string(),
    branch: z.string(),
    harness: z.string(),
    plan: z.object({ id: z.int(), topic: z.string(), decided: z.int(), pending: z.array(Line) }).nullable(),
    tasks: z
      .object({
        goal: z.string(),
        total: z.int(),
        completed: z.int(),
        running: z.array(Line),
        ready: z.array(Line),
        waiting: z.int(),
        never: z.array(z.object({ id: z.int(), why: z.string() })),
      })
      .nullable(),
    agents: z.array(z.object({ name: z.string(), id: z.string(), since: z.string() })),
    cycles: z.int(),
    problems: z.array(z.object({ code: z.string(), message: z.string(), fix: z.string().optional() })),
  }),
  about: ["Reads only, and takes no lock: it can be asked at any time, whoever is working."],
  examples: [["nexus status", "where this project stands"]],
  async run(_, context) {
    const project = projectOf(context);
    const problems: { code: string; message: string; fix?: string }[] = [];
    // Asked for when something is wrong: one file that cannot be read must not hide the others.
    const read = <T>(document: Document<T>): T | null => {
      try {
        return project.store.read(document);
      } catch (error) {
        if (!(error instanceof NutError)) throw error;
        problems.push({
          code: error.code,
          message: error.message,
          fix: error.hint,
        });
        return null;
      }
    };
    return {
      root: project.root,
      branch: project.branch(),
      harness: project.layout.harnessId ?? DEFAULT_HARNESS_ID,
      plan: planOf(read(planFile)),
      tasks: tasksOf(read(tasksFile)),
      agents: running(project),
      cycles: read(historyFile)?.cycles.length ?? 0,
      problems,
    };
  },
  text: ({ root, branch, plan, tasks, agents, cycles, problems }) => [
    `${bold(root)}  ${dim(`branch ${branch}, ${count(cycles, "closed cycle")}`)}`,
    ...problems.flatMap(({ message, fix }) => [`${red("✗")} ${message}`, ...(fix === undefined ? [] : [`    ${fix}`])]),
    ...(plan === null
      ? [dim("no plan is open")]
      : [
          `plan ${plan.id}: ${plan.topic}  ${dim(`${plan.decided} decided, ${plan.pending.length} to decide`)}`,
          ...lines(plan.pending, yellow("?")),
        ]),
    ...(tasks === null
      ? [dim("no tasks")]
      : [
          `tasks: ${tasks.completed} of ${tasks.total} done${tasks.goal === "" ? "" : `  ${dim(tasks.goal)}`}`,
          ...lines(tasks.running, cyan("▸")),
          ...lines(tasks.ready, green("○")),
          ...(tasks.waiting > 0 ? [dim(`  ${tasks.waiting} waiting for others`)] : []),
          ...tasks.never.map(({ id, why }) => `  ${red("✗")} ${id} can never be ready: it ${why}`),
        ]),
    ...agents.map(({ name, id, since }) => `agent ${name}  ${dim(`${id}, since ${since}`)}`),
  ],
  exit: ({ problems }) => (problems.length === 0 ? 0 : 1),
});

function planOf(plan: { id: number; topic: string; issues: { id: number; title: string; status: string }[] } | null) {
  if (plan === null) return null;
  const pending = plan.issues.filter((issue) => issue.status === "pending");
  return { id: plan.id, topic: plan.topic, decided: plan.issues.length - pending.length, pending: pending.map(line) };
}

function tasksOf(file: typeof tasksFile.type | null) {
  if (file === null || file === undefined) return null;
  const { total, completed, ready, pending } = summarize(file.tasks);
  const isReady = new Set(ready);
  return {
    goal: file.goal ?? "",
    total,
    completed,
    running: file.tasks.filter((task) => task.status === "in_progress").map(line),
    ready: file.tasks.filter((task) => isReady.has(task.id)).map(line),
    waiting: pending - ready.length,
    never: neverReady(file.tasks),
  };
}

function running(project: Project) {
  try {
    return trackedAgents(project)
      .filter((agent) => agent.status === "running")
      .map((agent) => ({ name: agent.agent_name ?? "?", id: agent.agent_id ?? "?", since: agent.started_at }));
  } catch {
    return [];
  }
}

const line = ({ id, title }: Line): Line => ({ id, title });

function lines(items: readonly Line[], mark: string): string[] {
  const shown = items.slice(0, MOST).map(({ id, title }) => `  ${mark} ${id}  ${title}`);
  return items.length > MOST ? [...shown, dim(`  … ${items.length - MOST} more: nexus task`)] : shown;
}
