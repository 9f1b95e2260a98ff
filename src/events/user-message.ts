// user_message: tags first, then where the session stands.
import type { UserMessage } from "../schema/events.js";
import { CONTEXT_LIMIT, limited, mentioned, statusLines, taskNamedIn } from "./context.js";
import { allow, type Decision, type Effect } from "./decision.js";
import type { Facts, SkillFact } from "./facts.js";
import { findTags, type TagUse } from "./tags.js";

export function userMessage({ text, caller, loadedSkill }: UserMessage, facts: Facts): Decision {
  // Hosts also fire this for the prompt Lead gives an agent. Tags are a person's to type.
  if (caller.agentId !== undefined) return agentPrompt(caller.agentId, text, facts);
  const parts: string[] = [];
  const warnings: string[] = [...facts.troubles];
  const effects: Effect[] = [];
  const typedSkill = loadedSkill ?? commandSkill(text);
  if (typedSkill !== null)
    activate({ id: typedSkill, mode: null, inject: loadedSkill === undefined }, facts, { parts, effects, warnings });
  for (const tag of findTags(text, facts.tags)) {
    if (tag.rule.type === "skill")
      activate({ id: tag.rule.skill ?? "", mode: tag.variant, inject: true }, facts, { parts, effects, warnings });
    else inline(tag, parts, effects);
  }
  const status = statusLines(facts);
  if (status.length > 0) parts.push(status.join("\n"));
  if (facts.troubles.length > 0) parts.push(facts.troubles.join("\n"));
  return allow({ context: parts, warnings, effects });
}

/** A manual skill is started by name at the head of a message: `/nx-init`, `$nx-init`, with or without a plugin prefix. */
function commandSkill(text: string): string | null {
  return /^\s*[/$](?:[\w-]+:)?(nx-[a-z]+)(?=\s|$)/.exec(text)?.[1] ?? null;
}

interface MessageParts {
  readonly parts: string[];
  readonly effects: Effect[];
  readonly warnings: string[];
}

function activate(
  { id, mode, inject }: { readonly id: string; readonly mode: string | null; readonly inject: boolean },
  facts: Facts,
  { parts, effects, warnings }: MessageParts,
): void {
  const skill = facts.skill(id);
  if (skill === null) {
    if (!id.startsWith("nx-")) warnings.push(`skill ${id} is not in the catalog`);
    return;
  }
  effects.push({ type: "set_skill", skill: id, mode });
  if (inject) parts.push(skillText(skill, mode, facts));
}

function skillText({ id, body, docs }: SkillFact, mode: string | null, facts: Facts): string {
  const notes = docs.flatMap((topic) => (facts.hostDocs[topic] === undefined ? [] : [facts.hostDocs[topic]!]));
  const names = mentioned(body, facts.toolNames);
  const head = `Skill ${id} is now active${mode === null ? "" : `, mode: ${mode}`}. Follow it until it is done or another skill replaces it.`;
  const tail = [...notes, ...(names === null ? [] : [names])].join("\n");
  // The body is cut before the notes are: they are short and only we know them.
  const room = CONTEXT_LIMIT - head.length - tail.length - 4;
  return [head, limited(body.trim(), `read the rest of the ${id} skill before acting`, room), tail]
    .filter((part) => part !== "")
    .join("\n\n");
}

function inline({ rule, variant, text }: TagUse, parts: string[], effects: Effect[]): void {
  const handler = rule.handler ?? "";
  if (handler === "memory_gc" || (handler === "memory_store" && variant === "gc")) {
    effects.push({ type: "collect_memory" });
    return;
  }
  if (text === "") {
    parts.push(`[${rule.id}] came without text, so nothing was recorded. Ask what was meant.`);
    return;
  }
  if (handler === "nx_plan_decide") {
    const numbered = /^#?(\d+)\s*[:.)-]\s*([\s\S]+)$/.exec(text);
    effects.push({
      type: "decide_issue",
      issueId: numbered === null ? null : Number(numbered[1]),
      text: numbered?.[2] ?? text,
    });
  } else if (handler === "memory_store") effects.push({ type: "store_memory", text });
  else if (handler === "rule_store") effects.push({ type: "store_rule", tag: variant ?? "general", text });
}

/** The prompt may name the task an agent was started for, which its start could not know. */
function agentPrompt(agentId: string, text: string, facts: Facts): Decision {
  if (facts.agentTasks[agentId] !== undefined) return allow();
  const task = taskNamedIn(text, facts.tasks ?? []);
  return task === undefined ? allow() : allow({ effects: [{ type: "link_task", agentId, taskId: task.id }] });
}
