// Which tools a role is denied. The canonical table of the contract: additions can only deny more.
export type SemanticClass = "nexus_task_creation" | "nexus_task_state_transition" | "nexus_task_metadata_modification";

const CREATE: readonly SemanticClass[] = ["nexus_task_creation"];
const CHANGE: readonly SemanticClass[] = ["nexus_task_state_transition", "nexus_task_metadata_modification"];

const DENIED: Readonly<Record<string, ReadonlySet<SemanticClass>>> = {
  architect: new Set([...CREATE, ...CHANGE]),
  designer: new Set([...CREATE, ...CHANGE]),
  postdoc: new Set([...CREATE, ...CHANGE]),
  strategist: new Set([...CREATE, ...CHANGE]),
  engineer: new Set(CREATE),
  writer: new Set(CREATE),
  researcher: new Set(CREATE),
  tester: new Set(CREATE),
  reviewer: new Set(CREATE),
};

/** An unknown role is denied whatever any role is denied. */
export function deniedTo(role: string): ReadonlySet<SemanticClass> {
  if (role === "lead") return new Set();
  return Object.hasOwn(DENIED, role) ? DENIED[role]! : new Set([...CREATE, ...CHANGE]);
}
