// pre_tool_use: may this caller use this tool on these files? Reads nothing and waits for nothing. Hosts let a tool run
// when a gate fails, so whatever cannot be decided is denied.
import type { Caller, PreToolUse, ToolUse } from "../schema/events.js";
import { mayCall, mayEdit, type Standing, standingOf, TOOL_RULES } from "../schema/roles.js";
import { allow, type Decision, deny } from "./decision.js";
import type { GateFacts } from "./facts.js";
import { takesCommands } from "./open-programs.js";
import { insideTrees, isProtected, needsNoTask } from "./paths.js";
import { baseName, has } from "./shell-programs.js";
import { readShell, type ShellReading, type ShellWrite, type StartedProgram } from "./shell-writes.js";
import { denialEntry } from "./tool-log.js";

/** A caller by what the host says of it and what was recorded when it started; the record counts beside any claim. */
export function callerStanding({ agentId, agentName, beside = [] }: Caller, facts: GateFacts): Standing {
  const recorded = agentId !== undefined && Object.hasOwn(facts.tracked, agentId) ? facts.tracked[agentId] : undefined;
  const names = [agentName, recorded, ...beside].filter((name) => name !== undefined);
  return standingOf({ agentId, names, processRole: facts.processRole }, facts.limits);
}

/** A denial leaves a line for the tool log. */
export function gate({ caller, tool }: PreToolUse, facts: GateFacts): Decision {
  const standing = callerStanding(caller, facts);
  const loss = lossTo(caller, tool, standing, facts);
  const decided =
    loss === null ? toolGate(tool, standing, facts) : deny(`nothing more can be allowed to ${who(standing)}: ${loss}`);
  const decision = caller.beside === undefined || decided.reason === null ? decided : deny(decided.reason + NAMELESS);
  if (decision.reason === null) return decision;
  const entry = denialEntry({ caller, tool, agentName: agentNameOf(caller, standing, facts) }, decision.reason);
  return { ...decision, effects: [{ type: "log_tool", entry, hostTool: tool.name }] };
}

const NAMELESS = " (nobody says here who calls: while an agent is at work, its limits hold for every call)";

/** Reading is always allowed. Without a sandbox a role that may not edit needs a tree to compare with. */
function lossTo({ agentId }: Caller, tool: ToolUse, standing: Standing, facts: GateFacts): string | null {
  if (agentId === undefined || standing.kind !== "role" || tool.access === "read") return null;
  const isHeldByTree = facts.sandbox === null || facts.sandboxMayFail;
  return facts.loss(agentId, { needsTree: !mayEdit(standing) && isHeldByTree });
}

/** What a caller is called in records: its role, else as it was recorded, else as the host says. null is Lead. */
export function agentNameOf({ agentId, agentName }: Caller, { roles }: Standing, facts: GateFacts): string | null {
  if (roles[0] !== undefined) return roles[0];
  if (agentId === undefined) return null;
  return (Object.hasOwn(facts.tracked, agentId) ? facts.tracked[agentId] : agentName) ?? null;
}

function toolGate(tool: ToolUse, standing: Standing, facts: GateFacts): Decision {
  if (tool.name === "") return deny("a tool call without a tool name cannot be decided");
  switch (tool.access) {
    case "read":
      return allow();
    case "nexus":
      return nexusGate(tool, standing);
    case "spawn":
      if (tool.inBackground === true)
        return deny("agents are waited for here, so that their calls can be told from Lead's");
      return standing.kind === "role" || standing.kind === "unknown"
        ? deny(`${who(standing)} may not start agents; report to Lead what needs doing`)
        : allow();
    case "edit":
      return editGate(tool, standing, facts);
    case "shell":
      return shellGate(tool, standing, facts);
    case "other":
      return mayEdit(standing)
        ? allow()
        : deny(`${who(standing)} may not use ${tool.name}: nothing is known about what it changes`);
  }
}

function nexusGate({ nexusTool, name }: ToolUse, standing: Standing): Decision {
  if (nexusTool === undefined) return deny(`${name} is none of the Nexus tools`);
  if (mayCall(nexusTool, standing)) return allow();
  if (TOOL_RULES[nexusTool].callers === "lead") return deny(`only Lead may call ${name}; report to Lead instead`);
  if (standing.kind === "unknown") return deny(unnamed(name));
  return deny(`${who(standing)} may not call ${name}; report to Lead instead`);
}

function editGate({ name, classes, paths, change }: ToolUse, standing: Standing, facts: GateFacts): Decision {
  if (standing.kind === "unknown") return deny(unnamed(name));
  const blocked = classes.find((one) => standing.blocked.has(one));
  if (blocked !== undefined) {
    return deny(`${who(standing)} may not change files (${name}, ${blocked}); describe the change to Lead instead`);
  }
  if (paths.length === 0) return deny(`${name} does not say which file it would change`);
  const forbidden = standing.kind === "lead" ? undefined : paths.find((path) => isProtected(path, facts));
  if (forbidden !== undefined) return deny(offLimits(forbidden, standing));
  if (!facts.tasksExist && !paths.every((path) => needsNoTask(path, change, facts))) return deny(unplanned(name));
  return allow();
}

function shellGate({ command, name, classes, staysOpen }: ToolUse, standing: Standing, facts: GateFacts): Decision {
  const blocked = classes.find((one) => standing.blocked.has(one));
  if (blocked !== undefined) return deny(`${who(standing)} may not run commands (${blocked})`);
  if (command === undefined) return deny(`${name} without a command cannot be decided`);
  const reading = readShell(command);
  const open = staysOpen === true ? reading.programs.find(takesCommands) : undefined;
  const writes = open === undefined ? reading.writes : [...reading.writes, unseen(open)];
  const inProject = writes.filter((write) => touchesProject(write, facts));
  if (standing.kind === "unknown" && inProject.length > 0) return deny(unnamed(name));
  if (standing.kind === "role") {
    const refusal = roleShell(command, reading, inProject, standing, facts);
    if (refusal !== null) return deny(refusal);
  }
  const direct = inProject.find(
    ({ kind, path }) => kind !== "tool" && !(path !== null && needsNoTask(path, undefined, facts)),
  );
  if (!facts.tasksExist && direct !== undefined)
    return deny(`${unplanned(name, direct.kind === "undecided" ? "may" : "would")} (${direct.how})`);
  if (!mayEdit(standing) && facts.sandbox !== null) return allow({ rewrite: readOnly(command, facts) });
  return allow();
}

const unseen = ({ name }: StartedProgram): ShellWrite => ({
  how: `${name} takes further commands, and no hook is told of them: run them one by one`,
  path: null,
  kind: "undecided",
});

/** What a role's shell may not do, beyond the tools it is denied. */
function roleShell(
  command: string,
  { writes, programs }: ShellReading,
  inProject: readonly ShellWrite[],
  standing: Standing,
  facts: GateFacts,
): string | null {
  const forbidden = writes.find(({ path }) => path !== null && isProtected(path, facts));
  if (forbidden?.path != null) return offLimits(forbidden.path, standing);
  if (inProject.length > 0 && /\.nexus\/state|\.nexus\/config/i.test(command))
    return offLimits(".nexus/state", standing);
  const verb = programs.map(nexusVerb).find((word) => word !== null && !NEXUS_READS.has(word));
  if (verb !== undefined) return `${who(standing)} may not run "nexus ${verb}"; use the tools it was given`;
  if (programs.some(startsAgent)) return `${who(standing)} may not start agents; report to Lead what needs doing`;
  const [write] = inProject;
  if (mayEdit(standing) || write === undefined) return null;
  return write.kind === "undecided"
    ? `${who(standing)} may not change files, and whether this command would cannot be decided: ${write.how}`
    : `${who(standing)} may not change files, and this command would (${write.how}); describe the change to Lead instead`;
}

const NEXUS_READS: ReadonlySet<string> = new Set([
  "status",
  "list",
  "show",
  "doctor",
  "help",
  "history",
  "context",
  "--help",
  "--version",
  "",
]);
const isNexus = (name: string) => /^(?:nexus|nutcracker)(?:\.[cm]?js)?$/.test(name);

/** The first word for our own command line, however it is started (`nexus`, `node bin/nexus.js`); null for other programs. */
function nexusVerb({ name, args }: StartedProgram): string | null {
  if (isNexus(name)) return args[0]?.text ?? "";
  if (!/^(?:node|nodejs|bun|deno|tsx)$/.test(name)) return null;
  // What hosts start: an agent could tell us of events that never were.
  if (args.some(({ text }) => /(?:^|\/)hook\/hook\.js$/.test(text))) return "hook";
  const script = args.findIndex(({ text }) => isNexus(baseName(text)));
  return script < 0 ? null : (args[script + 1]?.text ?? "");
}

function startsAgent({ name, args }: StartedProgram): boolean {
  if (/^(?:qwen|gemini)$/.test(name)) return !has(args, /^(?:-v|--version|-h|--help)$/);
  return /^(?:claude|codex|opencode)$/.test(name) && has(args, /^(?:-p|--print|exec|run|serve|acp)$/);
}

function touchesProject({ path }: ShellWrite, facts: GateFacts): boolean {
  if (path === null) return true;
  if (/^\/dev\/(?:null|zero|full|random|urandom|tty|stdin|stdout|stderr|fd\/\d+)$/.test(path)) return false;
  return facts.places(path).some((place) => insideTrees(place, facts) !== null);
}

/** Inside a sandbox of the host's own, ours may not start. The command runs all the same: the tree is compared at the end. */
function readOnly(command: string, { sandbox, sandboxMayFail }: GateFacts): string {
  const words = sandbox ?? [];
  const held = [...words, command].map(quoted).join(" ");
  if (!sandboxMayFail) return held;
  const trial = [...words, ":"].map(quoted).join(" ");
  const plain = [...words.slice(-2), command].map(quoted).join(" ");
  return `if ${trial} 2>/dev/null; then ${held}; else ${plain}; fi`;
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

const who = ({ roles }: Standing) => (roles.length === 0 ? "this agent" : `the ${roles.join(" and ")} role`);
const unnamed = (tool: string) =>
  `${tool} was called by an agent that was never announced; nothing can be allowed to it`;
const unplanned = (tool: string, verb = "would") =>
  `${tool} ${verb} change a file while there is no task list; plan first ([plan]) or add a task (task_add), then edit`;
const offLimits = (path: string, standing: Standing) =>
  `${path} is off limits to ${who(standing)}: state changes only through the Nexus tools, settings only by people`;
