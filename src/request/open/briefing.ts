// What of a request an agent is told at once and what it may look up: manifest first, then requirements, then the rest
// as far as the budget goes. Loading everything into a prompt is how a context window is lost before work starts.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Manifest } from "../../schema/manifest.js";

/** A window most agents have; the request's hint is a share of it. */
const WINDOW_TOKENS = 200_000;
const DEFAULT_HINT = 0.25;

export interface Briefing {
  /** `[label, text]`, in the order of importance. */
  readonly loaded: readonly (readonly [string, string])[];
  /** Paths that did not fit or were not asked for. */
  readonly more: readonly string[];
  readonly tokens: number;
}

export interface BriefingInput {
  readonly folder: string;
  readonly manifest: Manifest;
  readonly estimate: (text: string) => number;
}

export function loadBriefing({ folder, manifest, estimate }: BriefingInput): Briefing {
  const budget = (manifest.harness?.context_budget_hint ?? DEFAULT_HINT) * WINDOW_TOKENS;
  const brief = JSON.stringify(briefManifest(manifest), null, 2);
  const loaded: [string, string][] = [["request (nutshell.json, shortened)", brief]];
  const more: string[] = [];
  let tokens = estimate(brief);
  const { requirements, architecture, references, additional = [] } = manifest.context ?? {};
  for (const path of [requirements, architecture, references, ...additional]) {
    if (path === undefined) continue;
    const text = readWithin(join(folder, path), (budget - tokens) * 8);
    const cost = text === null ? Number.POSITIVE_INFINITY : estimate(text);
    if (text === null || tokens + cost > budget) {
      more.push(path);
      continue;
    }
    loaded.push([path, text]);
    tokens += cost;
  }
  if (manifest.apis?.endpoints_spec !== undefined) more.push(manifest.apis.endpoints_spec);
  if (manifest.acceptance?.criteria_file !== undefined) more.push(manifest.acceptance.criteria_file);
  return { loaded, more, tokens };
}

/** Reads a text file unless it is plainly too large. */
function readWithin(path: string, maxBytes: number): string | null {
  try {
    if (statSync(path).size > maxBytes) return null;
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

/** The manifest without what only tools need: file hashes, compression, credentials' details, extensions. */
function briefManifest(manifest: Manifest): object {
  const { task, tags, acceptance, harness, resources, files, expires_at } = manifest;
  const roles = (files?.tree ?? []).filter(({ role }) => role !== undefined).slice(0, 200);
  return {
    task,
    ...(expires_at === undefined ? {} : { expires_at }),
    ...(tags === undefined ? {} : { tags }),
    ...(acceptance === undefined ? {} : { acceptance }),
    ...(harness === undefined ? {} : { harness }),
    ...(resources === undefined ? {} : { resources }),
    ...(roles.length === 0 ? {} : { files: roles.map(({ path, role }) => ({ path, role })) }),
  };
}
