// Whether an agent's earlier session may be used again. The task's own policy comes first, then the role's tier; for a
// bounded role any edit by someone else means a fresh start, whatever the policy says.
import type { EditFact } from "./facts.js";

export interface ResumeInput {
  readonly policy: string | null;
  readonly tier: string | null;
  /** The last session of the same role for the same owner, if the host still has it. */
  readonly prior: {
    readonly agentId: string;
    readonly stoppedAt: string | null;
    readonly files: readonly string[];
  } | null;
  /** Files the new work aims at; empty = not known. */
  readonly targets: readonly string[];
  readonly edits: readonly EditFact[];
}

export interface Resume {
  readonly reuse: boolean;
  readonly agentId: string | null;
  /** Files to read again before going on. */
  readonly reread: readonly string[];
  readonly why: string;
}

export function evaluateResume({ policy, tier, prior, targets, edits }: ResumeInput): Resume {
  const fresh = (why: string): Resume => ({ reuse: false, agentId: null, reread: [], why });
  if (policy === "fresh") return fresh("the task asks for a fresh session");
  if (prior === null) return fresh("there is no earlier session");
  const bounded = tier === "bounded" || policy === "resume_if_same_artifact";
  if (bounded) {
    const foreign = edits.find(
      (edit) => edit.agentId !== prior.agentId && prior.files.includes(edit.path) && later(edit.at, prior.stoppedAt),
    );
    if (foreign !== undefined) return fresh(`${foreign.path} was edited by someone else since`);
  }
  if (policy === "resume")
    return { reuse: true, agentId: prior.agentId, reread: bounded ? prior.files : [], why: "the task asks to resume" };
  if (policy === null && tier === "ephemeral") return fresh("this role always starts fresh");
  if (!bounded)
    return tier === "persistent"
      ? { reuse: true, agentId: prior.agentId, reread: [], why: "the role persists within a run" }
      : fresh("nothing allows to resume");
  const same = targets.length > 0 && targets.every((path) => prior.files.includes(path));
  if (!same) return fresh("the target files differ");
  return { reuse: true, agentId: prior.agentId, reread: targets, why: "same owner, same files, no edit in between" };
}

function later(at: string, than: string | null): boolean {
  return than === null || Date.parse(at) > Date.parse(than);
}
