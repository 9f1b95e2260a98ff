// manifest.json and schema/*.json, made from the sources of a core folder. The same sources give the same bytes.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { AgentMeta, CoreManifest, SkillMeta, VocabularyFile } from "../schema/catalog.js";
import { findCoreFolder } from "./core-folder.js";
import { invalid, readManifestFast } from "./manifest.js";
import { type CoreSource, readSource } from "./source.js";

/** The line of the nexus-core contract our own core keeps. */
const CORE_VERSION = "0.7.0";
const SCHEMA_CONTRACT_VERSION = "2.0";

/** Path inside the core folder → content, for every file that is made and not written. Throws CATALOG_INVALID. */
export function buildCore(coreDir: string): Map<string, string> {
  const source = readSource(coreDir);
  const first = source.findings[0];
  if (first !== undefined) throw invalid(coreDir, first.path, first.message);
  const before = existsSync(join(coreDir, "manifest.json")) ? readManifestFast(coreDir) : null;
  const manifest = buildManifest(source, before?.nexus_core_version ?? CORE_VERSION);
  // A newer minor version may have put more into its manifest: it stays.
  const files = new Map([["manifest.json", json({ ...before, ...manifest })]]);
  // The schemas of somebody else's core are theirs.
  if (resolve(coreDir) === findCoreFolder()) {
    for (const [name, schema] of Object.entries(schemas())) files.set(`schema/${name}.schema.json`, json(schema));
  }
  return files;
}

export function buildManifest(source: CoreSource, version: string): CoreManifest {
  const parts = {
    agents: source.agents.map(hashLast),
    skills: source.skills.map(hashLast),
    vocabulary: source.vocabulary,
  };
  return {
    nexus_core_version: version,
    // A manifest cannot name the commit it is part of; this names the content, in a commit's form.
    nexus_core_commit: createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 40),
    schema_contract_version: SCHEMA_CONTRACT_VERSION,
    ...parts,
  };
}

/** The contract's order of fields: what meta.yml says, then id and body_hash. */
function hashLast<Entry extends { id: string; body_hash: string }>({ id, body_hash, ...meta }: Entry) {
  return { ...meta, id, body_hash } as unknown as Entry;
}

function schemas(): Record<string, unknown> {
  const named = { agent: AgentMeta, skill: SkillMeta, vocabulary: VocabularyFile, manifest: CoreManifest };
  return Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, z.toJSONSchema(schema)]));
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
