// Agents of a run, told through the same events the hosts fire, so that tracker, edits and tool log are true whoever reads
// them. Two effects are left out: a run compares trees in its own way, per agent and per slot.
import type { Catalog } from "../../catalog/index.js";
import type { Effect } from "../../events/index.js";
import type { Context } from "../../operation.js";
import type { LifecycleEvent, ToolUse } from "../../schema/events.js";
import { nexusToolUse } from "../../schema/roles.js";
import { isNexusTool } from "../../schema/tools.js";
import { fire } from "../../session/lifecycle.js";
import { processStarted } from "../../session/sessions.js";
import type { Project } from "../../state/index.js";

export interface AgentEventsInput {
  readonly project: Project;
  readonly catalog: Catalog;
  readonly context: Context;
  readonly toolName: (abstract: string) => string;
  readonly canResume: boolean;
  readonly run: string;
}

type Bare<T> = T extends unknown ? Omit<T, "sessionId" | "cwd"> : never;
const SKIPS: ReadonlySet<Effect["type"]> = new Set<Effect["type"]>(["take_snapshot", "compare_tree"]);

/** Events are applied one after another, in the order they happened. */
export class AgentEvents {
  readonly #input: AgentEventsInput;
  #last: Promise<unknown> = Promise.resolve();

  constructor(input: AgentEventsInput) {
    this.#input = input;
  }

  fire(event: Bare<LifecycleEvent>): Promise<void> {
    const mine = this.#last.then(async () => {
      await fire(
        { ...event, sessionId: this.#input.run, cwd: this.#input.project.root } as LifecycleEvent,
        this.#around(),
      );
    });
    this.#last = mine.catch(() => undefined);
    return mine;
  }

  /** Everything fired so far is in the state files. */
  async settled(): Promise<void> {
    await this.#last;
  }

  #around() {
    const { project, catalog, context, toolName, canResume } = this.#input;
    const { env, now } = context;
    const started = processStarted(process.pid);
    return {
      cwd: project.root,
      env: { NEXUS_PROJECT_DIR: project.root, PATH: env.PATH, HOME: env.HOME },
      now,
      host: {
        harnessId: project.layout.harnessId,
        toolNames: { artifact_write: toolName("artifact_write") },
        docs: {},
        settings: [],
        canResume,
      },
      process: { pid: process.pid, ...(started === null ? {} : { started }) },
      project,
      catalog,
      skips: SKIPS,
    };
  }
}

/** A tool of some agent program, as far as its name tells what it does. */
export function toolUse(name: string, path?: string): ToolUse {
  const nexus = /(?:^|[._])nx_([a-z_]+)$/.exec(name)?.[1] ?? "";
  if (isNexusTool(nexus)) return nexusToolUse(name, nexus);
  const paths = path === undefined ? [] : [path];
  if (/shell|bash|exec|command|terminal/i.test(name))
    return { name, access: "shell", classes: ["shell_command_exec"], paths };
  if (/write|create/i.test(name)) return { name, access: "edit", classes: ["file_creation"], paths };
  if (/edit|patch|replace/i.test(name)) return { name, access: "edit", classes: ["file_modification"], paths };
  return { name, access: "read", classes: [], paths };
}
