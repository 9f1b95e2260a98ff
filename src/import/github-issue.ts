// An issue as `gh issue view --json title,body,labels,comments,url,author` or GitHub's own API prints it.
import { MAX_ISSUE_BYTES, parseIssue } from "../bundle/index.js";
import { NutError } from "../errors.js";
import { type ImportedTask, type LeftOut, textFile } from "./model.js";
import { nameOf, plainTask } from "./plain-task.js";

/** Throws ISSUE_INVALID for what is no issue. */
export function readGithubIssue(text: string): ImportedTask {
  if (Buffer.byteLength(text) > MAX_ISSUE_BYTES) {
    throw new NutError("ISSUE_INVALID", `an issue is at most ${MAX_ISSUE_BYTES} bytes`, {
      hint: "import the issue alone, and add the rest under context/ afterwards",
    });
  }
  const { title, summary, checklist, labels, body, url } = parseIssue(text);
  const raw = fieldsOf(text);
  const said = comments(raw.comments);
  const number = typeof raw.number === "number" ? `-${raw.number}` : "";
  const author = loginOf(raw.author) ?? loginOf(raw.user);
  const additional = said.length === 0 ? [] : ["context/discussion.md"];
  return plainTask("github-issue", `${nameOf(title).slice(0, 60)}${number}`, {
    title,
    summary: summary ?? title,
    files: new Map([
      ["context/requirements.md", textFile(`# ${title}\n\n${body === "" ? title : body}\n`)],
      ...additional.map((path) => [path, textFile(`${said.join("\n\n")}\n`)] as const),
    ]),
    checklist,
    domains: labels,
    additional,
    authors: author === null ? [] : [author],
    url: url ?? null,
    leftOut: notCarried(raw),
  });
}

function fieldsOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    // Markdown has no fields.
    return {};
  }
}

const loginOf = (value: unknown): string | null =>
  typeof value === "object" && value !== null && "login" in value && typeof value.login === "string"
    ? value.login
    : null;

const MAX_COMMENTS = 200;

/** A number is how many there are, in the API's own answer. */
function comments(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, MAX_COMMENTS).flatMap((row: unknown) => {
    if (typeof row !== "object" || row === null || !("body" in row) || typeof row.body !== "string") return [];
    const fields = row as Record<string, unknown>;
    const who = loginOf(fields.author) ?? loginOf(fields.user) ?? "somebody";
    return [`## ${who}\n\n${row.body.trim()}`];
  });
}

const CARRIED = new Set(
  "title name body description labels html_url web_url url comments author user number".split(" "),
);

function notCarried(raw: Record<string, unknown>): LeftOut[] {
  const more = Object.entries(raw).filter(([key, value]) => !CARRIED.has(key) && value !== null && value !== "");
  const found: LeftOut[] =
    more.length === 0
      ? []
      : [{ what: more.map(([key]) => key).join(", "), why: "fields of the tracker that say nothing of the work" }];
  if (typeof raw.comments === "number" && raw.comments > 0)
    found.push({
      what: `${raw.comments} comments`,
      why: "the file does not hold them: gh issue view --json …,comments does",
    });
  if (Array.isArray(raw.comments) && raw.comments.length > MAX_COMMENTS)
    found.push({
      what: `${raw.comments.length - MAX_COMMENTS} comments`,
      why: `only the first ${MAX_COMMENTS} are kept`,
    });
  return found;
}
