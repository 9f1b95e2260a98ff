// What validate says beyond the schema of the manifest: references, extensions, and the documents that have a schema
// of their own. Pure: whoever asks brings the files and a way to read one.

import type { z } from "zod";
import type { Finding } from "../../errors.js";
import { JsonError, parseJson } from "../../files/index.js";
import { Criteria } from "../../schema/criteria.js";
import { Delivery } from "../../schema/delivery.js";
import { Endpoints } from "../../schema/endpoints.js";
import type { Manifest } from "../../schema/manifest.js";
import { mismatchLine } from "../../schema/mismatch.js";
import { MAX_JSON_DEPTH } from "../format/limits.js";
import { pathProblem } from "../format/safe-path.js";
import { manifestFindings } from "../manifest/manifest.js";
import type { Content } from "./report.js";

/** A bundle or a folder; without `files`, only the manifest is there to judge. */
export type JudgedContent = Pick<Content, "manifest" | "read"> & { readonly files: Content["files"] | null };

/** The manifest against its schema and against the files it names. */
export async function contentFindings(content: JudgedContent): Promise<Finding[]> {
  const { manifest } = content;
  const findings = [...manifestFindings(manifest), ...titleFindings(manifest), ...extensionFindings(manifest)];
  const references = manifestReferences(manifest);
  for (const { field, path } of references) findings.push(...referenceFindings(field, path, content.files));
  for (const [path, schema] of documents(manifest)) {
    if (content.files?.has(path)) findings.push(...documentFindings(path, await content.read(path), schema));
  }
  return findings;
}

function titleFindings(manifest: Manifest): Finding[] {
  const title: unknown = (manifest.task as { title?: unknown } | undefined)?.title;
  if (manifest.bundle_type === "delivery" || (typeof title === "string" && title.trim() !== "")) return [];
  return [
    {
      code: "TITLE_MISSING",
      severity: "error",
      path: "task.title",
      message: "task.title is required",
      fix: 'nutshell set task.title "what to do, in one line"',
    },
  ];
}

const CORE_FIELDS: ReadonlySet<string> = new Set([
  ...["nutshell_version", "bundle_type", "id", "parent_id", "task", "tags", "publisher", "context", "files", "apis"],
  ...["credentials", "acceptance", "harness", "resources", "completeness", "compression", "created_at", "expires_at"],
]);

/** The format itself gives these extensions fields with the names of core ones. */
const OWN_EXTENSIONS: ReadonlySet<string> = new Set(["split"]);

/** Extensions add; they never override. Whoever tries is told, and nobody listens to the attempt. */
function extensionFindings(manifest: Manifest): Finding[] {
  const extensions: unknown = manifest.extensions;
  if (!isObject(extensions)) return [];
  return Object.entries(extensions).flatMap(([name, extension]) =>
    (isObject(extension) && !OWN_EXTENSIONS.has(name) ? Object.keys(extension) : [])
      .filter((key) => CORE_FIELDS.has(key))
      .map(
        (key): Finding => ({
          code: "EXTENSION_OVERRIDES",
          severity: "warning",
          path: `extensions.${name}.${key}`,
          message: `extensions.${name}.${key} repeats the core field ${key}; it is ignored`,
        }),
      ),
  );
}

export interface Reference {
  /** The manifest field that names the path. */
  readonly field: string;
  readonly path: string;
}

/** Every path the manifest names, with the field that names it. Fields of the wrong type are skipped. */
export function manifestReferences(manifest: Manifest): Reference[] {
  const references: Reference[] = [];
  const add = (field: string, value: unknown) => {
    if (typeof value === "string" && value !== "") references.push({ field, path: value });
  };
  const each = (field: string, value: unknown, pick: (item: unknown) => unknown = (item) => item) => {
    if (Array.isArray(value)) for (const [index, item] of value.entries()) add(`${field}.${index}`, pick(item));
  };
  const { context, apis, credentials, acceptance, resources } = manifest;
  add("context.requirements", context?.requirements);
  add("context.architecture", context?.architecture);
  add("context.references", context?.references);
  each("context.additional", context?.additional);
  add("apis.endpoints_spec", apis?.endpoints_spec);
  add("apis.credential_ref", apis?.credential_ref);
  add("credentials.vault", credentials?.vault);
  add("acceptance.criteria_file", acceptance?.criteria_file);
  each("acceptance.test_scripts", acceptance?.test_scripts);
  each("resources.images", resources?.images, (image) => (isObject(image) ? image.path : undefined));
  add("execution_log.full_log", manifest.execution_log?.full_log);
  return references;
}

function referenceFindings(field: string, path: string, files: Content["files"] | null): Finding[] {
  const clean = path.replace(/^\.\//, "");
  const problem = pathProblem(clean);
  if (problem !== null) {
    return [{ code: "REFERENCE_UNSAFE", severity: "error", path: field, message: `${field}: "${path}" ${problem[1]}` }];
  }
  if (files === null || files.has(clean)) return [];
  return [{ code: "REFERENCE_MISSING", severity: "warning", path: field, message: `${field}: ${path} is not there` }];
}

function documents(manifest: Manifest): Map<string, z.ZodType> {
  const schemas = new Map<string, z.ZodType>([
    ["tests/criteria.json", Criteria],
    ["apis/endpoints.json", Endpoints],
    ["delivery/result.json", Delivery],
  ]);
  const { acceptance, apis } = manifest;
  if (typeof acceptance?.criteria_file === "string") schemas.set(acceptance.criteria_file, Criteria);
  if (typeof apis?.endpoints_spec === "string") schemas.set(apis.endpoints_spec, Endpoints);
  return schemas;
}

function documentFindings(path: string, bytes: Uint8Array, schema: z.ZodType): Finding[] {
  let value: unknown;
  try {
    value = parseJson(bytes, { maxDepth: MAX_JSON_DEPTH });
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return [{ code: "DOCUMENT_INVALID", severity: "error", path, message: `${path}: ${error.message}` }];
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return [];
  return parsed.error.issues.map((issue) => ({
    code: "DOCUMENT_INVALID",
    severity: "error",
    path,
    message: `${path}: ${mismatchLine(issue)}`,
  }));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
