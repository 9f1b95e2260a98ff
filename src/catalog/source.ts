// A nexus-core folder as its authors write it: meta.yml and body.md per agent and skill, vocabulary/*.yml.
// Used to build and to verify manifest.json; everyday reading goes through the manifest.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { z } from "zod";
import type { Finding } from "../errors.js";
import {
  AgentMeta,
  Capability,
  Category,
  ResumeTier,
  SkillMeta,
  Tag,
  VOCABULARY_FILES,
  type Vocabulary,
} from "../schema/catalog.js";
import { mismatchLine } from "../schema/mismatch.js";
import { bodyPath, hashOf, readBody } from "./catalog.js";
import { parseYaml } from "./yaml.js";

export interface CoreSource {
  readonly agents: readonly (AgentMeta & { id: string; body_hash: string })[];
  readonly skills: readonly (SkillMeta & { id: string; body_hash: string })[];
  readonly vocabulary: Vocabulary;
  /** What could not be read or does not fit; the rest is still there. */
  readonly findings: readonly Finding[];
}

export function readSource(coreDir: string): CoreSource {
  const findings: Finding[] = [];
  return {
    agents: readFolder(coreDir, "agents", AgentMeta, findings),
    skills: readFolder(coreDir, "skills", SkillMeta, findings),
    vocabulary: {
      capabilities: readVocabulary(coreDir, "capabilities", Capability, findings),
      categories: readVocabulary(coreDir, "categories", Category, findings),
      resume_tiers: readVocabulary(coreDir, "resume_tiers", ResumeTier, findings),
      tags: readVocabulary(coreDir, "tags", Tag, findings),
    },
    findings,
  };
}

function readFolder<Meta extends { id?: string | undefined }>(
  coreDir: string,
  kind: "agents" | "skills",
  schema: z.ZodType<Meta>,
  findings: Finding[],
): (Meta & { id: string; body_hash: string })[] {
  const folder = join(coreDir, kind);
  if (!existsSync(folder)) {
    findings.push(bad("core_missing", folder, "no such folder"));
    return [];
  }
  const ids = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
  return ids.flatMap((id) => {
    const path = join(folder, id, "meta.yml");
    try {
      const meta = readYaml(path, schema);
      if (meta.id !== undefined && meta.id !== id)
        throw new Unfit(path, `id is "${meta.id}" in a folder named "${id}"`);
      bodyPath(coreDir, kind, id);
      return [{ ...meta, id, body_hash: hashOf(readBody(coreDir, kind, id)) }];
    } catch (error) {
      findings.push(findingOf(error, path));
      return [];
    }
  });
}

function readVocabulary<Row>(
  coreDir: string,
  list: keyof typeof VOCABULARY_FILES,
  schema: z.ZodType<Row>,
  findings: Finding[],
): Row[] {
  const path = join(coreDir, "vocabulary", VOCABULARY_FILES[list]);
  try {
    const data = parseYaml(readFileSync(path, "utf8"), (reason) => new Unfit(path, reason));
    // Some cores put the list under its name, some write it bare.
    const rows = Array.isArray(data) ? data : (data as Record<string, unknown> | null)?.[list];
    if (!Array.isArray(rows)) throw new Unfit(path, `"${list}" is missing`);
    return rows.map((row, index) => conform(schema, row, path, `${list}.${index}.`));
  } catch (error) {
    findings.push(findingOf(error, path));
    return [];
  }
}

class Unfit extends Error {
  readonly path: string;
  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

function readYaml<T>(path: string, schema: z.ZodType<T>): T {
  return conform(
    schema,
    parseYaml(readFileSync(path, "utf8"), (reason) => new Unfit(path, reason)),
    path,
    "",
  );
}

function conform<T>(schema: z.ZodType<T>, value: unknown, path: string, prefix: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new Unfit(path, `${prefix}${mismatchLine(parsed.error.issues[0]!)}`);
}

function findingOf(error: unknown, path: string): Finding {
  if (!(error instanceof Error)) throw error;
  return bad("core_invalid", error instanceof Unfit ? error.path : path, error.message);
}

export function bad(code: string, path: string, message: string, fix?: string): Finding {
  return { code, severity: "error", path, message, ...(fix === undefined ? {} : { fix }) };
}
