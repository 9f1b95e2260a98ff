// What all readers of prose have in common: a task that is documents and points to judge.
import type { ImportedTask, ImportKind } from "./model.js";

export function plainTask(kind: ImportKind, name: string, told: Partial<ImportedTask>): ImportedTask {
  return {
    kind,
    name: nameOf(name),
    title: name,
    summary: "",
    language: null,
    files: new Map(),
    criteria: [],
    hidden: [],
    install: [],
    checklist: [],
    constraints: [],
    skills: [],
    domains: [],
    additional: [],
    oracle: null,
    licence: null,
    authors: [],
    url: null,
    leftOut: [],
    ...told,
  };
}

/** A folder's name: letters, digits and dashes, whatever its owner called it. */
export const nameOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, 80)
    .replaceAll(/^-+|-+$/g, "") || "task";

/** The first paragraph that is no heading, list or quotation. */
export function firstParagraph(text: string): string | null {
  const found = text.split(/\n{2,}/).find((part) => /^\s*[^\s#>|`*<\-[]/.test(part) && !/^\s*\d+\. /.test(part));
  return found?.replaceAll(/\s+/g, " ").trim().slice(0, 600) ?? null;
}

/** The first heading, without what a template puts before the name. */
export const headingOf = (text: string): string | null =>
  /^#\s+(?:(?:Feature Specification|Implementation Plan|Proposal|Change|Spec)\s*:\s*)?(.+)$/m.exec(text)?.[1]?.trim() ??
  null;
