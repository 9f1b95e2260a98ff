// The part of a repair that needs no thought: spelling, pointers to what is already there, outlines for what is not.

import { RESULT_FILE } from "../../schema/delivery.js";
import type { Manifest } from "../../schema/manifest.js";
import { outline, PLACEHOLDER_RESULT } from "../manifest/template.js";
import { DEFAULT_CRITERIA, DEFAULT_ENDPOINTS, resolveReference } from "./completeness-references.js";
import type { Content } from "./report.js";

export interface FixPlan {
  /** Files to create or, for `append`, to extend. Never one that exists otherwise. */
  readonly writes: readonly { readonly path: string; readonly text: string; readonly append?: boolean }[];
  readonly isManifestChanged: boolean;
  /** What was or will be done, one line each. */
  readonly done: readonly string[];
}

interface Plan {
  readonly writes: { path: string; text: string; append?: boolean }[];
  readonly done: string[];
  changed: boolean;
}

const DOCUMENTS = ["requirements", "architecture", "references"] as const;

/** Changes `content.manifest` in place and says which files to write. */
export function mechanicalFixes(content: Content): FixPlan {
  const plan: Plan = { writes: [], done: [], changed: false };
  // In a delivery the rows say what the request held: with them gone, deleted files would be forgotten.
  if (content.manifest.bundle_type === "delivery") fixDelivery(content, plan);
  else {
    fixDocuments(content, plan);
    pointToFiles(content, plan);
    dropStaleRows(content, plan);
  }
  return { writes: plan.writes, isManifestChanged: plan.changed, done: plan.done };
}

function change(plan: Plan, line: string): void {
  plan.changed = true;
  plan.done.push(line);
}

function fixDocuments({ manifest, files }: Content, plan: Plan): void {
  const context = manifest.context ?? {};
  for (const field of DOCUMENTS) {
    const path = context[field];
    const resolved = path === undefined ? null : resolveReference(path);
    if (resolved === null) continue;
    const spelled = files.has(resolved) ? resolved : sameButForCase(files, resolved);
    if (spelled !== undefined) {
      if (spelled !== path) {
        context[field] = spelled;
        change(plan, `context.${field} is now ${spelled}`);
      }
    } else if (resolved.endsWith(".md")) {
      plan.writes.push({ path: resolved, text: outline(resolved) });
      plan.done.push(`wrote an outline to fill in: ${resolved}`);
    }
  }
}

function sameButForCase(files: ReadonlyMap<string, number>, path: string): string | undefined {
  return [...files.keys()].find((name) => name.toLowerCase() === path.toLowerCase());
}

/** Files in their usual place that the manifest does not mention. */
function pointToFiles({ manifest, files }: Content, plan: Plan): void {
  const point = <Area extends "context" | "acceptance" | "apis" | "credentials">(
    area: Area,
    field: keyof NonNullable<Manifest[Area]> & string,
    path: string,
  ) => {
    const section = (manifest[area] ?? {}) as Record<string, unknown>;
    if (section[field] !== undefined || !files.has(path)) return;
    section[field] = path;
    manifest[area] = section as Manifest[Area];
    change(plan, `${area}.${field} is now ${path}`);
  };
  for (const field of DOCUMENTS) point("context", field, `context/${field}.md`);
  point("acceptance", "criteria_file", DEFAULT_CRITERIA);
  point("apis", "endpoints_spec", DEFAULT_ENDPOINTS);
  point("credentials", "vault", "credentials/vault.enc.json");
}

/** Rows hold what an author said about a file (its role); only those of files that are gone go. */
function dropStaleRows({ manifest, files }: Content, plan: Plan): void {
  const rows = manifest.files?.tree;
  if (rows === undefined) return;
  const rowsLeft = rows.filter(({ path }) => files.has(path.replace(/^\.\//, "")));
  if (rowsLeft.length === rows.length) return;
  manifest.files = { ...manifest.files, tree: rowsLeft };
  delete manifest.files.total_count;
  delete manifest.files.total_size_bytes;
  const dropped = rows.length - rowsLeft.length;
  change(plan, `files.tree no longer lists ${dropped === 1 ? "a file that is" : `${dropped} files that are`} not here`);
}

function fixDelivery({ manifest, files, left }: Content, plan: Plan): void {
  if (manifest.status === undefined && !files.has(RESULT_FILE) && !left.some((path) => path.startsWith("delivery"))) {
    plan.writes.push({ path: RESULT_FILE, text: resultOutline(manifest) });
    plan.done.push(`wrote an outline to fill in: ${RESULT_FILE}`);
  }
  if (manifest.request_id === undefined && manifest.parent_id !== undefined) {
    manifest.request_id = manifest.parent_id;
    change(plan, `request_id is now ${manifest.parent_id}`);
  }
  if (left.some((path) => /^delivery(\/|$)/.test(path))) {
    plan.writes.push({
      path: ".nutignore",
      text: "\n# the work itself always goes along\n!/delivery/\n!/delivery/**\n",
      append: true,
    });
    plan.done.push(".nutignore no longer leaves out delivery/");
  }
}

/** Everything a person has to say; "nutshell finish" fills in the rest. */
function resultOutline({ request_id: request, parent_id: parent, acceptance }: Manifest): string {
  const answers = (acceptance?.checklist ?? []).map((item) => ({ item, status: "unknown", note: "" }));
  const outlined = {
    nutshell_version: "0.2.0",
    bundle_type: "delivery",
    ...(request === undefined && parent === undefined ? {} : { request_id: request ?? parent }),
    status: "partial",
    summary: PLACEHOLDER_RESULT,
    artifacts: { files_created: [], files_modified: [], files_deleted: [] },
    acceptance_results: { checklist: answers },
    execution_log: { decisions: [], issues_encountered: [] },
  };
  return `${JSON.stringify(outlined, null, 2)}\n`;
}
