// What of a request will count as the work, told to its author while it can still be changed.
import { isOutsideSubject, planChecks, subjectPaths } from "../../acceptance/index.js";
import { type OpenedContent, resolveReference } from "../../bundle/index.js";
import { type Finding, NutError, shellWord } from "../../errors.js";

export interface SubjectWords {
  /** null when the request has nothing to run. */
  readonly passed: { readonly path: string; readonly message: string } | null;
  readonly findings: readonly Finding[];
}

/** More files are not looked at one by one. */
const MANY = 2_000;
const SHOWN = 5;

export async function subjectWords(content: OpenedContent, dir: string | undefined): Promise<SubjectWords> {
  const none = { passed: null, findings: [] };
  const { manifest } = content;
  const {
    subject,
    criteria_file: file = "tests/criteria.json",
    test_scripts: scripts = [],
  } = manifest.acceptance ?? {};
  if (manifest.bundle_type !== "request" || (!content.files.has(file) && scripts.length === 0)) return none;
  const message = subject?.join(", ") ?? `every change but tests and what steers them${await examples(content)}`;
  const named = namedIn(await taskTexts(content), [...content.files.keys()]);
  const outside = named.filter((path) => isOutsideSubject(path, subject ?? null));
  const suffix = dir === undefined ? "" : ` --dir ${shellWord(dir)}`;
  return {
    passed: { path: "acceptance.subject", message },
    findings: outside.map((path) => ({
      code: "SUBJECT_STEERS",
      severity: "warning",
      path: "acceptance.subject",
      message: `the task speaks of ${path}, which steers checks: unless the subject names it, no check uses a change of it`,
      fix: `nutshell set acceptance.subject ${shellWord([...(subject ?? ["<folder of the work>/"]), path].join(","))}${suffix}`,
    })),
  };
}

/** Paths of a folder that can be the work, as examples. */
async function examples({ isFolder, path, manifest, files }: OpenedContent): Promise<string> {
  if (!isFolder || files.size > MANY) return "";
  try {
    const plan = planChecks(path, manifest);
    const all = subjectPaths({ request: path, manifest, plan, base: path, result: path, folder: path });
    // What `finish` left beside the work is no part of it.
    const paths = all.filter((one) => !one.startsWith("delivery/"));
    if (paths.length === 0) return "";
    const more = paths.length > SHOWN ? `, and ${paths.length - SHOWN} more` : "";
    return `: ${paths.slice(0, SHOWN).join(", ")}${more}`;
  } catch (error) {
    // Criteria that cannot be read are a finding of their own.
    if (error instanceof NutError) return "";
    throw error;
  }
}

async function taskTexts(content: OpenedContent): Promise<string> {
  const { task, context, acceptance } = content.manifest;
  const document = context?.requirements === undefined ? null : resolveReference(context.requirements);
  const text =
    document === null || !content.files.has(document) ? "" : Buffer.from(await content.read(document)).toString("utf8");
  return [task?.title, task?.summary, ...(acceptance?.checklist ?? []), text].join("\n");
}

/** Words that are a file of the bundle, or look like one; each once. */
function namedIn(text: string, files: readonly string[]): string[] {
  const names = new Map(files.map((path) => [path.split("/").at(-1)!, path]));
  const words = [...text.matchAll(/[\p{L}\p{N}_.@+/-]+/gu)].map(([word]) => word.replace(/[./]+$/, ""));
  const found = words.flatMap((word) => {
    if (files.includes(word)) return [word];
    if (names.has(word)) return [names.get(word)!];
    return /\.\w+$|^(?:GNU)?[Mm]akefile$|^[A-Z][a-z]+file$/.test(word) ? [word] : [];
  });
  return [...new Set(found)];
}
