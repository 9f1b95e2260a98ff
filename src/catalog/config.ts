// .nexus/config.yml: what a project adds to the catalog. Absent is the common case and costs one failed open;
// yaml and zod are loaded only when there is something to read.

import { readFileSync } from "node:fs";
import { type Finding, isSystemError, NutError } from "../errors.js";
import type { CoreManifest, ModelTier, ProjectConfig } from "../schema/catalog.js";
import { mismatchLine } from "../schema/mismatch.js";

export const CONFIG_FILE = ".nexus/config.yml";

const FIELDS = ["capabilities", "models", "program", "limits", "notify"];

/**
 * The project's configuration; `{}` when the file is absent. Throws CONFIG_INVALID when it cannot be understood: going
 * on without it would give roles more rights than the project meant them to have.
 */
export async function readConfig(path: string): Promise<ProjectConfig> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (isSystemError(error) && (error.code === "ENOENT" || error.code === "ENOTDIR")) return {};
    throw error;
  }
  const [{ parseYaml }, { ProjectConfig: schema }] = await Promise.all([
    import("./yaml.js"),
    import("../schema/catalog.js"),
  ]);
  const parsed = schema.safeParse(parseYaml(text, (reason) => broken(path, reason)) ?? {});
  if (parsed.success) return parsed.data;
  throw broken(path, mismatchLine(parsed.error.issues[0]!));
}

/** What the configuration asks for that the catalog cannot give. Everything else in it still holds. */
export function configFindings(config: ProjectConfig, manifest: CoreManifest, path: string = CONFIG_FILE): Finding[] {
  const roles = manifest.agents.map(({ id }) => id);
  const capabilities = manifest.vocabulary.capabilities.map(({ id }) => id);
  const findings: Finding[] = [];
  const add = (code: string, severity: Finding["severity"], message: string, fix: string) =>
    findings.push({ code, severity, path, message, fix });

  for (const [role, additions] of Object.entries(config.capabilities ?? {})) {
    if (!roles.includes(role)) {
      add("config_unknown_role", "error", `capabilities: there is no role "${role}"`, `use one of ${roles.join(", ")}`);
    }
    for (const id of additions) {
      if (capabilities.includes(id)) continue;
      add(
        "config_unknown_capability",
        "error",
        `capabilities.${role}: there is no capability "${id}"; capabilities can only be added`,
        `use one of ${capabilities.join(", ")}`,
      );
    }
  }
  for (const field of Object.keys(config)) {
    if (FIELDS.includes(field)) continue;
    add("config_unknown_field", "warning", `"${field}" means nothing here`, `use ${FIELDS.join(", ")}`);
  }
  return findings;
}

/** The model a tier stands for, or null when the project leaves it to the program. A program's own name comes first. */
export function modelFor(tier: ModelTier, config: ProjectConfig, program?: string): string | null {
  const ofProgram = program === undefined ? undefined : config.models?.[program];
  const name = typeof ofProgram === "object" ? ofProgram[tier] : undefined;
  return name ?? config.models?.[tier] ?? null;
}

function broken(path: string, reason: string): NutError {
  return new NutError("CONFIG_INVALID", `${path}: ${reason}`, { hint: "nexus catalog verify", data: { path } });
}
