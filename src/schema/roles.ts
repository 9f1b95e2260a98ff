// Who may do what: one table for every door. The gate, the deny lists of hosts, the drivers of a run and the tools
// themselves ask here and nowhere else. Plain data without zod, because the gate loads it for every tool call.
import type { SemanticClass, ToolUse } from "./events.js";
import { type NexusTool, TOOLS } from "./tools.js";

export interface ToolRule {
  /** `all`: whoever asks. `lead`: Lead alone, whatever a role is denied. `roles`: a role that none of `classes` is denied to. */
  readonly callers: "all" | "lead" | "roles";
  readonly classes: readonly SemanticClass[];
}

/** Reading is never blocked, and neither is handing over a report. */
const OPEN: ToolRule = { callers: "all", classes: [] };
/** Lead is the only coordinator: it plans and decides, and it closes what it opened. */
const PLANNING: ToolRule = { callers: "lead", classes: [] };

export const TOOL_RULES: Readonly<Record<NexusTool, ToolRule>> = {
  plan_start: PLANNING,
  plan_status: OPEN,
  plan_update: PLANNING,
  plan_decide: PLANNING,
  task_add: { callers: "roles", classes: ["nexus_task_creation"] },
  task_list: OPEN,
  task_update: { callers: "roles", classes: ["nexus_task_state_transition"] },
  task_close: { callers: "lead", classes: ["nexus_task_state_transition", "nexus_task_metadata_modification"] },
  history_search: OPEN,
  context: OPEN,
  artifact_write: OPEN,
};

/** A call of one of our own tools, under the name it has where it was called. */
export function nexusToolUse(name: string, tool: NexusTool): ToolUse {
  return { name, access: "nexus", nexusTool: tool, classes: TOOL_RULES[tool].classes, paths: [] };
}

/** In a run the harness closes the cycle itself, so there not even Lead may. */
const NOT_IN_A_RUN: ReadonlySet<NexusTool> = new Set<NexusTool>(["task_close"]);

/** Role → the classes it is denied. A name that is not here is not a role. */
export type RoleLimits = Readonly<Record<string, readonly SemanticClass[]>>;

/** Who asks, once its claims were compared with what the harness recorded. */
export interface Standing {
  /**
   * `lead`: the session a person talks to. `role`: an agent in a role of the catalog. `helper`: an agent of the host's own,
   * at work for Lead. `unknown`: an agent that was never announced, or a role that is in no catalog.
   */
  readonly kind: "lead" | "role" | "helper" | "unknown";
  /** More than one when a claim and the record differ, and then the limits of all of them hold. */
  readonly roles: readonly string[];
  readonly blocked: ReadonlySet<string>;
}

export const LEAD: Standing = { kind: "lead", roles: [], blocked: new Set() };

export interface Claim {
  readonly agentId?: string | undefined;
  /** What it is called: by the host, and in the harness's own record. */
  readonly names?: readonly string[];
  /** The role its whole process was started in, if any. */
  readonly processRole?: string | null;
}

export function standingOf({ agentId, names = [], processRole = null }: Claim, limits: RoleLimits): Standing {
  const isRole = (name: string) => Object.hasOwn(limits, name);
  const allNames = processRole === null ? names : [...names, processRole];
  const roles = [...new Set(allNames)].filter(isRole);
  const blocked = new Set<string>(roles.flatMap((role) => limits[role]!));
  if (processRole !== null && !isRole(processRole)) return { kind: "unknown", roles, blocked };
  if (roles.length > 0) return { kind: "role", roles, blocked };
  if (agentId === undefined) return LEAD;
  return { kind: allNames.length === 0 ? "unknown" : "helper", roles, blocked };
}

/** The role a process was started in, from the environment the harness set; null is Lead. */
export function roleIn(env: Readonly<Record<string, string | undefined>>): string | null {
  const role = env.NEXUS_ROLE;
  return role === undefined || role === "" || role === "lead" ? null : role;
}

export type Place = "host" | "run";

export function mayCall(tool: NexusTool, { kind, blocked }: Standing, place: Place = "host"): boolean {
  if (place === "run" && NOT_IN_A_RUN.has(tool)) return false;
  const { callers, classes } = TOOL_RULES[tool];
  if (kind === "lead" || callers === "all") return true;
  return callers === "roles" && kind === "role" && !classes.some((one) => blocked.has(one));
}

/** The tools a caller may not call, for doors that hold it by a list. */
export function deniedNexusTools(standing: Standing, place: Place = "host"): NexusTool[] {
  return TOOLS.filter((tool) => !mayCall(tool, standing, place));
}

const EDITS: readonly SemanticClass[] = ["file_creation", "file_modification", "file_deletion"];
const COMMANDS: readonly SemanticClass[] = ["shell_command_exec", "subprocess_spawn", "interactive_shell_session"];

/** A shell can do what any edit tool can, so being denied one way to change files is being denied all of them. */
export function mayEdit({ kind, blocked }: Pick<Standing, "kind" | "blocked">): boolean {
  return kind !== "unknown" && !EDITS.some((one) => blocked.has(one));
}

export function mayRunCommands({ blocked }: Pick<Standing, "blocked">): boolean {
  return !COMMANDS.some((one) => blocked.has(one));
}
