// An imported task as the manifest and files of a request.
import { newManifest } from "../bundle/index.js";
import type { Criteria } from "../schema/criteria.js";
import type { Manifest } from "../schema/manifest.js";
import { type ImportedTask, type TaskFile, textFile } from "./model.js";

export interface ImportFacts {
  readonly id: string;
  readonly createdAt: string;
  readonly tool: string;
  readonly publisher: string | undefined;
}

const CRITERIA = "tests/criteria.json";

export interface ImportedRequest {
  readonly manifest: Manifest;
  readonly files: ReadonlyMap<string, TaskFile>;
}

export function requestOf(task: ImportedTask, facts: ImportFacts): ImportedRequest {
  const { title, summary, skills, checklist } = task;
  const begun = newManifest({ ...facts, title, summary, skills, checklist });
  const manifest: Manifest = {
    ...begun,
    tags: { ...begun.tags, domains: [...task.domains] },
    context: {
      ...begun.context,
      ...(task.additional.length === 0 ? {} : { additional: [...task.additional].sort() }),
    },
    acceptance: {
      ...(task.criteria.length === 0 ? {} : { criteria_file: CRITERIA }),
      checklist: [...checklist],
      ...(task.places === undefined ? {} : { places: { ...task.places } }),
      ...(task.install.length === 0 ? {} : { install: task.install.map((step) => ({ ...step })) }),
    },
    harness: { ...begun.harness, constraints: [...task.constraints] },
    extensions: { import: originOf(task) },
  };
  const criteria: Criteria = { criteria_version: "1.0", criteria: [...task.criteria] };
  const files = new Map(task.files);
  if (task.criteria.length > 0) files.set(CRITERIA, textFile(`${JSON.stringify(criteria, null, 2)}\n`));
  return { manifest, files };
}

/** Where it came from, in the request itself: whoever gets it sees the licence and what did not come along. */
function originOf({ kind, name, licence, authors, url, leftOut, base }: ImportedTask): Record<string, unknown> {
  return {
    kind,
    name,
    licence: licence?.name ?? null,
    ...(licence?.file == null ? {} : { licence_file: licence.file }),
    ...(authors.length === 0 ? {} : { authors: [...authors] }),
    ...(url === null ? {} : { url }),
    ...(base === undefined ? {} : { base: { ...base } }),
    not_carried_over: leftOut.map((each) => ({ ...each })),
  };
}
