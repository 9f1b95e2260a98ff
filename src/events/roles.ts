// The canonical limits, compiled in so that a gate needs no catalog. tests/events compare them with the catalog.
import type { SemanticClass } from "../schema/events.js";

export const CAPABILITY_CLASSES: Readonly<Record<string, readonly SemanticClass[]>> = {
  no_file_edit: [
    "file_creation",
    "file_modification",
    "file_deletion",
    "partial_file_edit",
    "structured_document_edit",
  ],
  no_task_create: ["nexus_task_creation"],
  no_task_update: ["nexus_task_state_transition", "nexus_task_metadata_modification"],
  no_shell_exec: ["shell_command_exec", "subprocess_spawn", "interactive_shell_session"],
};

const HOW = ["no_file_edit", "no_task_create", "no_task_update"] as const;
const CHECK = ["no_file_edit", "no_task_create"] as const;

export const ROLE_CAPABILITIES: Readonly<Record<string, readonly string[]>> = {
  architect: HOW,
  designer: HOW,
  postdoc: HOW,
  strategist: HOW,
  engineer: ["no_task_create"],
  writer: ["no_task_create"],
  researcher: CHECK,
  tester: CHECK,
  reviewer: CHECK,
};

/** Role → capabilities, as far as a gate must know. Additions may only add. */
export type RoleTable = Readonly<Record<string, readonly string[]>>;

export function withAdditions(additions: RoleTable): RoleTable {
  const merged: Record<string, readonly string[]> = { ...ROLE_CAPABILITIES };
  for (const [role, extra] of Object.entries(additions)) {
    merged[role] = [...new Set([...(ROLE_CAPABILITIES[role] ?? []), ...extra])];
  }
  return merged;
}

export function classesOf(capabilities: readonly string[]): ReadonlySet<SemanticClass> {
  return new Set(capabilities.flatMap((capability) => CAPABILITY_CLASSES[capability] ?? []));
}
