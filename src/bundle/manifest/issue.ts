// An issue as people write it (Markdown, or the JSON of a tracker) as the beginning of a request.
import { NutError } from "../../errors.js";

export interface Issue {
  readonly title: string;
  /** The first paragraph: what check wants as a summary. */
  readonly summary: string | undefined;
  readonly checklist: readonly string[];
  readonly labels: readonly string[];
  readonly body: string;
  readonly url: string | undefined;
}

/** Trackers limit an issue to far less; a larger file is something else. */
export const MAX_ISSUE_BYTES = 1024 * 1024;
const MAX_POINTS = 100;

export function parseIssue(text: string): Issue {
  const clean = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  return clean.trimStart().startsWith("{") ? fromJson(clean) : fromMarkdown(clean);
}

/** GitHub's and GitLab's fields (`title`, `body` or `description`, `labels`, `html_url`, `web_url` or `url`). */
function fromJson(text: string): Issue {
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(text) as Record<string, unknown>;
  } catch (error) {
    throw invalid("the issue is not valid JSON", error);
  }
  const string = (...names: string[]) =>
    names.map((name) => fields[name]).find((value): value is string => typeof value === "string" && value !== "");
  const title = string("title", "name");
  if (title === undefined) throw invalid("the issue has no title");
  const labels = Array.isArray(fields.labels) ? fields.labels : [];
  return assemble({
    title,
    body: string("body", "description")?.replaceAll("\r\n", "\n") ?? "",
    labels: labels
      .map((label: unknown) => (typeof label === "object" && label !== null && "name" in label ? label.name : label))
      .filter((label): label is string => typeof label === "string" && label !== ""),
    url: string("html_url", "web_url", "url"),
  });
}

function fromMarkdown(text: string): Issue {
  const lines = text.trim().split("\n");
  const first = lines[0]?.replace(/^#+\s*/, "").trim() ?? "";
  if (first === "") throw invalid("the issue is empty");
  return assemble({ title: first, body: lines.slice(1).join("\n").trim(), labels: [], url: undefined });
}

function assemble({ title, body, labels, url }: Pick<Issue, "title" | "body" | "labels" | "url">): Issue {
  return { title: title.trim(), summary: firstParagraph(body), checklist: points(body), labels, body, url };
}

function firstParagraph(body: string): string | undefined {
  const paragraph = body.split(/\n{2,}/).find((text) => /^\s*[^\s#>|`*<-]/.test(text) && !/^\s*\d+\. /.test(text));
  return paragraph?.replaceAll(/\s+/g, " ").trim();
}

const DONE_HEADING = /^#+\s*(?:acceptance|done|definition of done|expected)/i;

/** Task-list items anywhere; without any, the bullets under a heading that says what done means. */
function points(body: string): string[] {
  const lines = body.split("\n");
  const boxes = lines.flatMap((line) => /^\s*[-*+] \[[ xX]\]\s+(.+)$/.exec(line)?.[1] ?? []);
  if (boxes.length > 0) return boxes.slice(0, MAX_POINTS).map((point) => point.trim());
  const start = lines.findIndex((line) => DONE_HEADING.test(line));
  if (start < 0) return [];
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => /^#+\s/.test(line));
  const section = end < 0 ? rest : rest.slice(0, end);
  return section.flatMap((line) => /^\s*(?:[-*+]|\d+\.)\s+(.+)$/.exec(line)?.[1]?.trim() ?? []).slice(0, MAX_POINTS);
}

function invalid(message: string, cause?: unknown): NutError {
  return new NutError("ISSUE_INVALID", message, {
    hint: "give a Markdown file whose first line is the title, or JSON with title and body",
    ...(cause === undefined ? {} : { cause }),
  });
}
