// What an agent is started with: its prompts, its limits, its environment.
import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bodyOf, modelFor } from "../../catalog/index.js";
import type { ReportKind } from "../../schema/report.js";
import { TOOLS } from "../../schema/tools.js";
import { namedModel, type Role, type Run } from "../run.js";
import type { AgentRequest } from "./agent.js";
import type { StartedAttempt } from "./attempt.js";
import { rolePrompt } from "./prompts.js";
import { sessionHome } from "./session-home.js";

/** Lead is not in the catalog: it coordinates and plans, and in a run it changes no file. */
export function leadRole(): Pick<Role, "capabilities" | "blocked" | "mayEdit" | "mayRunShell"> & { agent: null } {
  const blocked = new Set(["file_creation", "file_modification", "file_deletion", "partial_file_edit"]);
  return { agent: null, capabilities: ["no_file_edit"], blocked, mayEdit: false, mayRunShell: true };
}

export type AnyRole = Role | ReturnType<typeof leadRole>;

/** Everything one session is started with. What it is told is kept in the agent's own folder. */
export function agentRequest(run: Run, attempt: StartedAttempt, role: AnyRole): AgentRequest {
  const { folder, catalog, secrets } = run;
  const { agent, runner } = attempt;
  const { task, role: roleId, slot, session, purpose } = attempt;
  const agentFolder = join(folder.agents, agent);
  mkdirSync(agentFolder, { recursive: true, mode: 0o700 });
  const body =
    role.agent === null
      ? bodyOf(catalog.coreDir, "skills", catalog.skills.find(({ id }) => id === "nx-plan")!)
      : bodyOf(catalog.coreDir, "agents", role.agent);
  const kind = reportKind(attempt);
  const reported = join(agentFolder, "report.json");
  // A name may be used again after a kill; what was handed in then is nobody's report now.
  rmSync(reported, { force: true });
  const fence = randomBytes(12).toString("hex");
  const prompts = {
    rolePrompt: secrets.scrub(
      rolePrompt({
        body,
        role: roleId,
        tools: runner.hasTools ? Object.fromEntries(TOOLS.map((name) => [name, runner.toolName(name)])) : {},
        mayEdit: role.mayEdit,
        denied: role.capabilities,
        reports: kind === undefined ? undefined : runner.reports,
        notes:
          runner.hasTools && runner.reports === undefined ? [reportNote(agent, runner.toolName("artifact_write"))] : [],
      }),
    ),
    taskPrompt: secrets.scrub(attempt.prompt(fence)),
  };
  writeFileSync(join(agentFolder, "role.md"), prompts.rolePrompt, { mode: 0o600 });
  writeFileSync(join(agentFolder, "prompt.md"), prompts.taskPrompt, { mode: 0o600 });
  const tier = role.agent?.model_tier ?? "high";
  const model = namedModel(run, runner) ?? modelFor(tier, catalog.config, runner.name) ?? undefined;
  return {
    agent,
    role: roleId,
    task: task.id,
    ...prompts,
    cwd: slot.path,
    ...(slot.over === null ? {} : { over: slot.over }),
    home: sessionHome(folder.homes, attempt.home, { goesOn: session !== null }),
    env: {
      ...secrets.env,
      NEXUS_PROJECT_DIR: run.project.root,
      NEXUS_HARNESS_ID: run.project.layout.harnessId,
      ...(purpose === "plan" ? {} : { NEXUS_ROLE: roleId }),
      NEXUS_AGENT_ID: agent,
      ...(task.id === 0 ? {} : { NEXUS_TASK_ID: String(task.id) }),
    },
    mayEdit: role.mayEdit,
    mayRunShell: role.mayRunShell,
    capabilities: role.capabilities,
    blocked: role.blocked,
    ...(model === undefined ? {} : { model }),
    ...(session === null ? {} : { resume: session.id }),
    readable: [join(run.project.root, ".nexus")],
    ...(kind === undefined || runner.reports === undefined ? {} : { report: { kind, file: reported } }),
    ...(run.installed === null ? {} : { installed: run.installed }),
    ...(run.manifest.acceptance?.places === undefined ? {} : { places: run.manifest.acceptance.places }),
    signal: run.halt.signal,
  };
}

/** What kind of report is awaited. Plans are made with the tools, and a diagnosis is words for the next try. */
export function reportKind({ purpose, task }: Pick<StartedAttempt, "purpose" | "task">): ReportKind | undefined {
  if (purpose !== "work") return undefined;
  return task.kind === "review" ? "review" : task.kind === "verify" ? "test" : "work";
}

const reportNote = (agent: string, tool: string) =>
  `Before your last message, save your report with \`${tool}\` as \`${reportFile(agent)}\`.`;
/** Where an agent saves its report through the tools. */
export const reportFile = (agent: string) => `report-${agent}.md`;
