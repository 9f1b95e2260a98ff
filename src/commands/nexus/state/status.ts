import { z } from "zod";
import { NutError } from "../../../errors.js";
import { operation } from "../../../operation.js";
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

const Line = z.object({ id: z.int(), title: z.string() });

export const status = operation({
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

const line = ({ id, title }: { id: number; title: string }) => ({ id, title });
