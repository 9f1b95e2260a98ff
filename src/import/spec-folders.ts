// Specifications that other tools keep as folders of Markdown: a feature of Spec Kit (spec.md, plan.md, tasks.md), a change of
// OpenSpec (proposal.md, tasks.md, specs/). Nothing in them can be run, so what they ask for becomes points to judge.
import { NutError } from "../errors.js";
import { findLicence } from "./licence.js";
import { type ImportedTask, type LeftOut, type TaskFile, textFile } from "./model.js";
import { firstParagraph, headingOf, plainTask } from "./plain-task.js";
import { type SourceFolder, textOf } from "./source-folder.js";

const MAX_POINTS = 100;

/** Throws IMPORT_UNFIT where there is no spec.md. */
export function readSpecKit(folder: SourceFolder): ImportedTask {
  const spec = needed(folder, "spec.md", "a feature of Spec Kit", "specs/001-some-feature");
  const requirements = points(
    spec,
    /^\s*-\s+\*\*((?:FR|NFR|SC)-\d+)\*\*\s*:?\s*(.+)$/gm,
    ([, id, text]) => `${id}: ${text}`,
  );
  const scenarios = points(spec, /^\s*\d+\.\s+(\*\*Given\*\*.+)$/gm, ([, text]) => text!.replaceAll("**", ""));
  const open = [...spec.matchAll(/\[NEEDS CLARIFICATION:?\s*([^\]]*)\]/g)].map(([, text]) => text!.trim());
  const { files, left } = documents(folder, "spec.md");
  const { licence, files: texts } = findLicence(folder);
  return plainTask("spec-kit", folder.name, {
    title: headingOf(spec) ?? folder.name,
    summary: inputOf(spec) ?? firstParagraph(spec) ?? folder.name,
    files: new Map([["context/requirements.md", textFile(spec)], ...files, ...texts]),
    checklist: [...requirements, ...scenarios].slice(0, MAX_POINTS),
    domains: ["spec-kit"],
    additional: [...files.keys()].filter((path) => path.endsWith(".md")),
    licence,
    leftOut: [
      ...left,
      ...open.map((text) => ({ what: `open question: ${text}`, why: "the specification leaves it to its author" })),
    ],
  });
}

/** Throws IMPORT_UNFIT where there is no proposal.md. */
export function readOpenSpec(folder: SourceFolder): ImportedTask {
  const proposal = needed(folder, "proposal.md", "a change of OpenSpec", "openspec/changes/some-change");
  const deltas = [...folder.files.keys()].filter((path) => /^specs\/.+\/spec\.md$/.test(path));
  const checklist = deltas.flatMap((path) => deltaPoints(textOf(folder, path) ?? ""));
  const done = [...(textOf(folder, "tasks.md") ?? "").matchAll(/^\s*-\s+\[[xX]\]\s+(.+)$/gm)];
  const { files, left } = documents(folder, "proposal.md");
  const { licence, files: texts } = findLicence(folder);
  return plainTask("openspec", folder.name, {
    title: headingOf(proposal) ?? titleOf(folder.name),
    summary: firstParagraph(section(proposal, "Why") ?? proposal) ?? folder.name,
    files: new Map([["context/requirements.md", textFile(proposal)], ...files, ...texts]),
    checklist: checklist.slice(0, MAX_POINTS),
    domains: ["openspec"],
    additional: [...files.keys()].filter((path) => path.endsWith(".md")),
    licence,
    leftOut: [
      ...left,
      ...(done.length === 0
        ? []
        : [{ what: `${done.length} finished points of tasks.md`, why: "they are done already" }]),
    ],
  });
}

const titleOf = (name: string): string => name.replaceAll("-", " ").replace(/^./, (first) => first.toUpperCase());

/** Each requirement with its scenarios is one point; what is to be removed says so. */
function deltaPoints(text: string): string[] {
  const found: string[] = [];
  for (const part of text.split(/^## /m).slice(1)) {
    const kind = /^(ADDED|MODIFIED|REMOVED|RENAMED) Requirements/i.exec(part)?.[1]?.toUpperCase();
    if (kind === undefined) continue;
    for (const one of part.split(/^### Requirement:\s*/m).slice(1)) {
      const [name = "", ...rest] = one.split("\n");
      const scenarios = [...one.matchAll(/^#### Scenario:\s*(.+)$/gm)].map(([, scenario]) => scenario!.trim());
      const says = firstParagraph(rest.join("\n").split(/^#### /m)[0]!) ?? "";
      const head = kind === "REMOVED" ? `${name.trim()} is gone` : `${name.trim()}${says === "" ? "" : `: ${says}`}`;
      found.push(`${head}${scenarios.length === 0 ? "" : ` (${scenarios.join("; ")})`}`.slice(0, 500));
    }
  }
  return found;
}

function section(text: string, name: string): string | null {
  const part = text.split(/^## /m).find((each) => each.startsWith(name));
  return part === undefined ? null : part.slice(name.length).trim();
}

/** Spec Kit keeps the words a person typed. */
const inputOf = (spec: string): string | null => {
  const input = /^\*\*Input\*\*:\s*(?:User description:\s*)?"?(.+?)"?\s*$/m.exec(spec)?.[1];
  return input === undefined || /^\$?ARGUMENTS$/.test(input) ? null : input;
};

const points = (text: string, pattern: RegExp, say: (match: RegExpMatchArray) => string): string[] =>
  [...text.matchAll(pattern)].map((match) => say(match).trim().slice(0, 500));

function needed(folder: SourceFolder, name: string, what: string, example: string): string {
  const text = textOf(folder, name);
  if (text !== null && text.trim() !== "") return text;
  throw new NutError("IMPORT_UNFIT", `${folder.path} is not ${what}: it has no ${name}`, {
    hint: `name its folder, such as ${example}`,
    data: { path: folder.path },
  });
}

function documents(folder: SourceFolder, main: string): { files: Map<string, TaskFile>; left: LeftOut[] } {
  const files = new Map<string, TaskFile>();
  const left: LeftOut[] = [...folder.unread];
  for (const [path, file] of folder.files) {
    if (path === main) continue;
    if (/\.(?:md|ya?ml|json|txt|graphql|proto|svg|png)$/.test(path))
      files.set(`context/${path}`, { ...file, executable: false });
    else left.push({ what: path, why: "it is no document" });
  }
  return { files, left };
}
