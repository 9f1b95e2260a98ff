// pre_tool_use: may this caller use this tool on these files? Reads nothing and waits for nothing. Hosts let a tool run
// when a gate fails, so whatever cannot be decided is denied.
import type { Caller, PreToolUse, ToolUse } from "../schema/events.js";
import { mayCall, mayEdit, type Standing, standingOf, TOOL_RULES } from "../schema/roles.js";
import { allow, type Decision, deny } from "./decision.js";
import type { GateFacts } from "./facts.js";
import { insideProject, isProtected, needsNoTask } from "./paths.js";
import { type ShellWrite, shellWrites } from "./shell-writes.js";

/** A caller by what the host says of it and what was recorded when it started; the record counts beside any claim. */
export function callerStanding({ agentId, agentName }: Caller, facts: GateFacts): Standing {
  const recorded = agentId !== undefined && Object.hasOwn(facts.tracked, agentId) ? facts.tracked[agentId] : undefined;
  const names = [agentName, recorded].filter((name) => name !== undefined);
  return standingOf({ agentId, names, processRole: facts.processRole }, facts.limits);
}

export function gate({ caller, tool }: PreToolUse, facts: GateFacts): Decision {
  const standing = callerStanding(caller, facts);
  if (tool.name === "") return deny("a tool call without a tool name cannot be judged");
  switch (tool.access) {
    case "read":
      return allow();
    case "nexus":
      return nexusGate(tool, standing);
    case "spawn":
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

function shellGate({ command, name, classes }: ToolUse, standing: Standing, facts: GateFacts): Decision {
  const blocked = classes.find((one) => standing.blocked.has(one));
  if (blocked !== undefined) return deny(`${who(standing)} may not run commands (${blocked})`);
  if (command === undefined) return deny(`${name} without a command cannot be judged`);
  const writes = shellWrites(command);
  const inProject = writes.filter((write) => touchesProject(write, facts));
  if (standing.kind === "unknown" && inProject.length > 0) return deny(unnamed(name));
  if (standing.kind === "role") {
    const refusal = roleShell(command, writes, inProject, standing, facts);
    if (refusal !== null) return deny(refusal);
  }
  const direct = inProject.find(
    ({ kind, path }) => kind === "direct" && !(path !== null && needsNoTask(path, undefined, facts)),
  );
  if (!facts.tasksExist && direct !== undefined) return deny(`${unplanned(name)} (${direct.how})`);
  if (!mayEdit(standing) && facts.sandbox !== null) return allow({ rewrite: readOnly(command, facts.sandbox) });
  return allow();
}

/** What a role's shell may not do, beyond the tools it is denied. */
function roleShell(
  command: string,
  writes: readonly ShellWrite[],
  inProject: readonly ShellWrite[],
  standing: Standing,
  facts: GateFacts,
): string | null {
  const known = writes.find(({ path }) => path !== null && isProtected(path, facts));
  if (known?.path != null) return offLimits(known.path, standing);
  if (inProject.length > 0 && /\.nexus\/state|\.nexus\/config/i.test(command))
    return offLimits(".nexus/state", standing);
  const program =
    /(?:^|[\s;&|(/])(nexus|nutcracker)(?:\.js)?\s+(?!status\b|list\b|show\b|doctor\b|help\b|history\b|context\b|--)(\S+)/.exec(
      command,
    );
  if (program !== null) return `${who(standing)} may not run "${program[1]} ${program[2]}"; use the tools it was given`;
  if (/(?:^|[\s;&|(/])(?:claude|codex|opencode)\s+(?:-p|exec|run|--print|serve)/.test(command)) {
    return `${who(standing)} may not start agents; report to Lead what needs doing`;
  }
  if (!mayEdit(standing) && inProject.length > 0) {
    return `${who(standing)} may not change files, and this command would (${inProject[0]!.how}); describe the change to Lead instead`;
  }
  return null;
}

function touchesProject({ path }: ShellWrite, facts: GateFacts): boolean {
  if (path === null) return true;
  if (/^\/dev\/(?:null|zero|full|random|urandom|tty|stdin|stdout|stderr|fd\/\d+)$/.test(path)) return false;
  return facts.places(path).some((place) => insideProject(place, facts.root) !== null);
}

function readOnly(command: string, sandbox: readonly string[]): string {
  return [...sandbox, command].map(quoted).join(" ");
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

const who = ({ roles }: Standing) => (roles.length === 0 ? "this agent" : `the ${roles.join(" and ")} role`);
const unnamed = (tool: string) =>
  `${tool} was called by an agent that was never announced; nothing can be allowed to it`;
const unplanned = (tool: string) =>
  `${tool} would change a file while there is no task list; plan first ([plan]) or add a task (task_add), then edit`;
const offLimits = (path: string, standing: Standing) =>
  `${path} is off limits to ${who(standing)}: state changes only through the Nexus tools, settings only by people`;
