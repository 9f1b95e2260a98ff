// Does a core folder hold together: sources that fit their schemas, references that lead somewhere, and a manifest that
// says what the sources say.

import { join } from "node:path";
import type { Finding } from "../errors.js";
import { CoreManifest, VOCABULARY_FILES } from "../schema/catalog.js";
import { mismatchLine } from "../schema/mismatch.js";
import { catalogHint, readManifestFast } from "./manifest.js";
import { bad, type CoreSource, readSource } from "./source.js";

export interface Verified {
  readonly agents: number;
  readonly skills: number;
  readonly findings: readonly Finding[];
}

/** Throws CATALOG_MISSING or CATALOG_INVALID only when there is no manifest to judge. */
export function verifyCore(coreDir: string): Verified {
  const manifest = readManifestFast(coreDir);
  const source = readSource(coreDir);
  const path = join(coreDir, "manifest.json");
  const parsed = CoreManifest.safeParse(manifest);
  const findings = [...source.findings, ...references(coreDir, source)];
  if (parsed.success) findings.push(...stale(coreDir, parsed.data, source));
  else {
    findings.push(...parsed.error.issues.map((issue) => bad("manifest_invalid", path, mismatchLine(issue))));
  }
  return { agents: manifest.agents.length, skills: manifest.skills.length, findings };
}

function references(coreDir: string, { agents, skills, vocabulary }: CoreSource): Finding[] {
  const findings: Finding[] = [];
  const ids = (rows: readonly { id: string }[]) => new Set(rows.map(({ id }) => id));
  const vocabularyIds = {
    capabilities: ids(vocabulary.capabilities),
    categories: ids(vocabulary.categories),
    tiers: ids(vocabulary.resume_tiers),
  };
  const need = (set: ReadonlySet<string>, id: string, path: string, what: string) => {
    if (!set.has(id)) findings.push(bad("core_unknown_reference", path, `there is no ${what} "${id}"`));
  };
  for (const agent of agents) {
    const path = join(coreDir, "agents", agent.id, "meta.yml");
    need(vocabularyIds.categories, agent.category, path, "category");
    need(vocabularyIds.tiers, agent.resume_tier, path, "resume tier");
    for (const id of agent.capabilities) need(vocabularyIds.capabilities, id, path, "capability");
  }
  const tagsPath = join(coreDir, "vocabulary", VOCABULARY_FILES.tags);
  for (const { skill } of vocabulary.tags) if (skill !== undefined) need(ids(skills), skill, tagsPath, "skill");
  for (const [list, file] of Object.entries(VOCABULARY_FILES)) {
    findings.push(...repeated(vocabulary[list] as { id: string }[], join(coreDir, "vocabulary", file)));
  }
  return findings;
}

function repeated(rows: readonly { id: string }[], path: string): Finding[] {
  return rows
    .filter(({ id }, index) => rows.findIndex((row) => row.id === id) !== index)
    .map(({ id }) => bad("core_repeated_id", path, `"${id}" is there twice`));
}

/** Where manifest.json and the sources disagree. */
function stale(coreDir: string, manifest: CoreManifest, source: CoreSource): Finding[] {
  const path = join(coreDir, "manifest.json");
  const fix = catalogHint("build", coreDir);
  const findings: Finding[] = [];
  for (const kind of ["agents", "skills"] as const) {
    const listed = new Map(manifest[kind].map((entry) => [entry.id, entry]));
    for (const entry of source[kind]) {
      const twin = listed.get(entry.id);
      listed.delete(entry.id);
      const where = join(coreDir, kind, entry.id);
      if (twin === undefined) findings.push(bad("manifest_stale", path, `${kind}: "${entry.id}" is missing`, fix));
      else if (twin.body_hash !== entry.body_hash) {
        findings.push(
          bad("body_changed", join(where, "body.md"), "the text is not the one manifest.json was made from", fix),
        );
      } else if (!agrees(entry, twin)) {
        findings.push(bad("manifest_stale", join(where, "meta.yml"), "manifest.json says something else", fix));
      }
    }
    for (const id of listed.keys()) {
      findings.push(bad("manifest_stale", path, `${kind}: "${id}" has no readable folder`, fix));
    }
  }
  for (const [list, file] of Object.entries(VOCABULARY_FILES)) {
    if (!agrees(source.vocabulary[list], manifest.vocabulary[list])) {
      findings.push(bad("manifest_stale", join(coreDir, "vocabulary", file), "manifest.json says something else", fix));
    }
  }
  return findings;
}

/** Everything the sources say is in the manifest. Key order does not matter, and a manifest may say more. */
function agrees(stated: unknown, listed: unknown): boolean {
  if (Array.isArray(stated)) {
    return (
      Array.isArray(listed) && stated.length === listed.length && stated.every((item, i) => agrees(item, listed[i]))
    );
  }
  if (typeof stated !== "object" || stated === null) return stated === listed;
  if (typeof listed !== "object" || listed === null) return false;
  const other = listed as Record<string, unknown>;
  return Object.entries(stated).every(([key, value]) => agrees(value, other[key]));
}
