// What roles, skills, tags and capabilities there are for one project: a nexus-core folder and the project's additions.

import { createHash } from "node:crypto";
import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Finding, isSystemError, NutError } from "../errors.js";
import type { AgentEntry, CoreManifest, ProjectConfig, SkillEntry, Vocabulary } from "../schema/catalog.js";
import type { SemanticClass } from "../schema/events.js";
import { mismatchLine } from "../schema/mismatch.js";
import type { RoleLimits } from "../schema/roles.js";
import { configFindings, readConfig } from "./config.js";
import { findCoreFolder } from "./core-folder.js";
import { invalid, readManifestFast } from "./manifest.js";

export interface CatalogAgent extends AgentEntry {
  /** What the project denies this role beyond its canonical capabilities. Only capabilities that exist. */
  readonly additions: readonly string[];
}

export interface Catalog {
  readonly coreDir: string;
  readonly version: string;
  readonly agents: readonly CatalogAgent[];
  readonly skills: readonly SkillEntry[];
  readonly capabilities: Vocabulary["capabilities"];
  readonly categories: Vocabulary["categories"];
  readonly resumeTiers: Vocabulary["resume_tiers"];
  readonly tags: Vocabulary["tags"];
  readonly config: ProjectConfig;
  /** What the project's configuration asks for in vain. */
  readonly findings: readonly Finding[];
}

export interface CatalogSource {
  /** Any nexus-core folder of the 0.7 line; by default the one that came with the package. */
  readonly coreDir?: string;
  /** The project's .nexus/config.yml; it may be absent. */
  readonly configFile?: string;
}

/** Throws CATALOG_MISSING, CATALOG_INVALID or CONFIG_INVALID. Bodies are read, and their hashes checked, by `bodyOf`. */
export async function loadCatalog({ coreDir, configFile }: CatalogSource = {}): Promise<Catalog> {
  const folder = coreDir ?? findCoreFolder();
  const manifest = readManifestFast(folder);
  if (coreDir !== undefined) await validate(manifest, folder);
  const config = configFile === undefined ? {} : await readConfig(configFile);
  return assemble(folder, manifest, config, configFindings(config, manifest, configFile));
}

export function assemble(
  coreDir: string,
  manifest: CoreManifest,
  config: ProjectConfig = {},
  findings: readonly Finding[] = [],
): Catalog {
  const { capabilities, categories, resume_tiers, tags } = manifest.vocabulary;
  const capabilityIds = new Set(capabilities.map(({ id }) => id));
  return {
    coreDir,
    version: manifest.nexus_core_version,
    agents: manifest.agents.map((agent) => ({
      ...agent,
      additions: ownList(config.capabilities, agent.id).filter((id) => capabilityIds.has(id)),
    })),
    skills: manifest.skills,
    capabilities,
    categories,
    resumeTiers: resume_tiers,
    tags,
    config,
    findings,
  };
}

/** Canonical and added, never fewer: a project can only deny more. */
export function effectiveCapabilities(agent: Pick<CatalogAgent, "capabilities" | "additions">): string[] {
  return [...new Set([...agent.capabilities, ...agent.additions])];
}

/** The semantic classes of tool a set of capabilities forbids. A capability nobody defined is refused, not ignored. */
export function blockedClasses(
  capabilities: readonly string[],
  catalog: Pick<Catalog, "capabilities">,
): Set<SemanticClass> {
  const classes = new Set<SemanticClass>();
  for (const id of capabilities) {
    const row = catalog.capabilities.find((capability) => capability.id === id);
    if (row === undefined)
      throw new NutError("CATALOG_UNKNOWN", `there is no capability "${id}"`, {
        hint: "nexus catalog verify",
        data: { id },
      });
    for (const name of row.blocks_semantic_classes) classes.add(name as SemanticClass);
  }
  return classes;
}

/** What each role of the catalog is denied, the project's additions included. */
export function roleLimits(catalog: Pick<Catalog, "agents" | "capabilities">): RoleLimits {
  const limits = catalog.agents.map((agent) => [agent.id, [...blockedClasses(effectiveCapabilities(agent), catalog)]]);
  return Object.fromEntries(limits);
}

export function findAgent(catalog: Catalog, id: string): CatalogAgent | null {
  return catalog.agents.find((agent) => agent.id === id) ?? null;
}

export function findSkill(catalog: Catalog, id: string): SkillEntry | null {
  return catalog.skills.find((skill) => skill.id === id) ?? null;
}

/** Skills a model may choose by itself: a manual one is started by a person or not at all. */
export function offeredSkills(catalog: Catalog): SkillEntry[] {
  return catalog.skills.filter(({ manual_only }) => manual_only !== true);
}

/** Far above any prompt; a folder given by --core is not ours. */
const MAX_BODY_BYTES = 1024 * 1024;

/** The prompt of an agent or a skill. Refuses one that is not the text its manifest was made from. */
export function bodyOf(coreDir: string, kind: "agents" | "skills", entry: { id: string; body_hash: string }): string {
  const bytes = readBody(coreDir, kind, entry.id);
  if (hashOf(bytes) !== entry.body_hash) {
    throw invalid(coreDir, bodyPath(coreDir, kind, entry.id), "the text was changed after manifest.json was made");
  }
  return bytes.toString("utf8");
}

export function readBody(coreDir: string, kind: "agents" | "skills", id: string): Buffer {
  const path = bodyPath(coreDir, kind, id);
  try {
    const stat = lstatSync(path);
    if (!stat.isFile()) throw invalid(coreDir, path, "not a regular file");
    if (stat.size > MAX_BODY_BYTES) throw invalid(coreDir, path, `larger than ${MAX_BODY_BYTES} bytes`);
    return readFileSync(path);
  } catch (error) {
    if (isSystemError(error) && error.code === "ENOENT") throw invalid(coreDir, path, "no such file", error);
    throw error;
  }
}

export function bodyPath(coreDir: string, kind: "agents" | "skills", id: string): string {
  if (!/^[a-z][a-z0-9-]*$/.test(id)) throw invalid(coreDir, join(coreDir, "manifest.json"), `"${id}" cannot be an id`);
  return join(coreDir, kind, id, "body.md");
}

export function hashOf(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

/** The list under a role's name, and nothing an object inherits. */
function ownList(lists: ProjectConfig["capabilities"], role: string): readonly string[] {
  return lists !== undefined && Object.hasOwn(lists, role) ? lists[role]! : [];
}

async function validate(manifest: CoreManifest, coreDir: string): Promise<void> {
  const { CoreManifest: schema } = await import("../schema/catalog.js");
  const parsed = schema.safeParse(manifest);
  if (parsed.success) return;
  throw invalid(coreDir, join(coreDir, "manifest.json"), mismatchLine(parsed.error.issues[0]!));
}
