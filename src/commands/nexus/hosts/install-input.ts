// Everything a host's installer needs, gathered from the catalog, the project's configuration and the package.
import { dirname, join, resolve } from "node:path";
import {
  blockedClasses,
  bodyOf,
  type Catalog,
  effectiveCapabilities,
  loadCatalog,
  modelFor,
  renderPrompt,
} from "../../../catalog/index.js";
import { NutError } from "../../../errors.js";
import {
  type AgentFile,
  type Host,
  type InstallInput,
  type Scope,
  type SkillFile,
  toolNames,
} from "../../../hosts/index.js";
import type { Context } from "../../../operation.js";
import type { SemanticClass } from "../../../schema/events.js";
import { findTop } from "../../../state/index.js";
import { VERSION } from "../../../version.js";
import { productSkill } from "../../more/skill.js";
import { ownPrograms } from "./own-programs.js";

export interface InstallChoice {
  readonly host: Host;
  readonly scope: Scope;
  readonly node: string;
}

export async function installInput(
  { host, scope, node }: InstallChoice,
  { cwd, env }: Pick<Context, "cwd" | "env">,
): Promise<InstallInput> {
  const home = env.HOME ?? env.USERPROFILE;
  if (home === undefined || home === "")
    throw new NutError("USAGE", "there is no home folder: HOME is not set", { hint: "export HOME=~" });
  // Hosts read the settings of the work tree they are started in.
  const root = env.NEXUS_PROJECT_DIR ? resolve(cwd, env.NEXUS_PROJECT_DIR) : findTop(cwd, env);
  const catalog = await loadCatalog({ configFile: join(root, ".nexus/config.yml") });
  return {
    scope,
    root,
    home,
    env,
    agents: agentFiles(catalog, host),
    skills: skillFiles(catalog, host),
    ...(await ownPrograms({ packageRoot: dirname(catalog.coreDir), node, env })),
    version: VERSION,
    platform: process.platform,
  };
}

export function agentFiles(catalog: Catalog, host: Host, names = toolNames(host)): AgentFile[] {
  return catalog.agents.map((agent) => ({
    id: agent.id,
    description: agent.description,
    prompt: renderPrompt({
      body: bodyOf(catalog.coreDir, "agents", agent),
      toolNames: names,
      notes: [`## Here\n\n${host.docs.report}`],
    }),
    blocked: [...blockedClasses(effectiveCapabilities(agent), catalog)] as SemanticClass[],
    model: modelFor(agent.model_tier, catalog.config, host.name),
  }));
}

/** The catalog's workflows, and how to use the two tools. */
export function skillFiles(catalog: Catalog, host: Host, names = toolNames(host)): SkillFile[] {
  const { name, description, body } = productSkill(dirname(catalog.coreDir));
  const own = { id: name, description, manual: false, prompt: body };
  const workflows = catalog.skills.map((skill) => ({
    id: skill.id,
    description: skill.description,
    manual: skill.manual_only === true,
    prompt: renderPrompt({
      body: bodyOf(catalog.coreDir, "skills", skill),
      toolNames: names,
      notes: (skill.harness_docs_refs ?? []).flatMap((topic) =>
        host.docs[topic] === undefined ? [] : [`## Here\n\n${host.docs[topic]}`],
      ),
    }),
  }));
  return [...workflows, own];
}
