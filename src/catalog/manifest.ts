// Reading manifest.json. A hook process starts for every tool call, so the everyday path parses one JSON file and loads
// neither zod nor yaml: the package's own manifest is proven valid by tests, a foreign one is validated by loadCatalog.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isSystemError, NutError } from "../errors.js";
import type { CoreManifest } from "../schema/catalog.js";
import { findCoreFolder } from "./core-folder.js";

/** Trusts what the manifest holds and checks only that its parts are there. Throws CATALOG_MISSING or CATALOG_INVALID. */
export function readManifestFast(coreDir: string = findCoreFolder()): CoreManifest {
  const path = join(coreDir, "manifest.json");
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (!isSystemError(error) || (error.code !== "ENOENT" && error.code !== "ENOTDIR")) throw error;
    throw new NutError(
      "CATALOG_MISSING",
      `${coreDir} is not a nexus-core folder of the 0.7 line: it has no manifest.json`,
      {
        // Sources without a manifest can be built; anything else is another kind of folder.
        hint: existsSync(join(coreDir, "vocabulary", "capabilities.yml"))
          ? catalogHint("build", coreDir)
          : "nexus catalog list",
        data: { path },
      },
    );
  }
  let manifest: unknown;
  try {
    manifest = JSON.parse(text);
  } catch (error) {
    throw invalid(coreDir, path, "not JSON", error);
  }
  if (!hasParts(manifest)) throw invalid(coreDir, path, "agents, skills or vocabulary is missing");
  return manifest;
}

export function invalid(coreDir: string, path: string, reason: string, cause?: unknown): NutError {
  const hint = catalogHint("verify", coreDir);
  return new NutError("CATALOG_INVALID", `${path}: ${reason}`, { hint, data: { path }, cause });
}

/** A command that can be pasted, about this very folder. */
export function catalogHint(verb: "build" | "verify", coreDir: string): string {
  const shown = /^[\w./@+-]+$/.test(coreDir) ? coreDir : `'${coreDir.replaceAll("'", "'\\''")}'`;
  return `nexus catalog ${verb} --core ${shown}`;
}

function hasParts(value: unknown): value is CoreManifest {
  if (typeof value !== "object" || value === null) return false;
  const { agents, skills, vocabulary } = value as Partial<Record<keyof CoreManifest, unknown>>;
  if (typeof vocabulary !== "object" || vocabulary === null) return false;
  const { capabilities, tags } = vocabulary as Record<string, unknown>;
  return [agents, skills, capabilities, tags].every(Array.isArray);
}
