// The words of a commit, from a delivery's own: a title, what was done, what was decided and why. Everything in it may come
// from a stranger, and a mail is read line by line: no line of theirs may begin a patch, a header or a second mail.

export interface CommitWords {
  readonly title: string;
  readonly summary?: string | undefined;
  readonly decisions?: readonly { readonly decision: string; readonly reason?: string | undefined }[] | undefined;
  /** Lines such as `Nutshell-Request: nut-…`. */
  readonly trailers: Readonly<Record<string, string | undefined>>;
}

const MAX_TITLE = 200;
const MAX_TEXT = 20_000;

export function commitMessage({ title, summary = "", decisions = [], trailers }: CommitWords): string {
  const decided = decisions.map(({ decision, reason }) => {
    const why = reason === undefined || reason.trim() === "" ? "" : ` (${oneLine(reason)})`;
    return `- ${oneLine(decision)}${why}`;
  });
  const named = Object.entries(trailers).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${oneLine(value)}`],
  );
  const parts = [
    oneLine(title).slice(0, MAX_TITLE) || "Work delivered",
    summary
      .split(/\r?\n/)
      .map(bodyLine)
      .join("\n")
      .replace(/^\n+|\s+$/g, ""),
    decided.length === 0 ? "" : ["Decisions:", ...decided.map(bodyLine)].join("\n"),
    named.join("\n"),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

/** C0 and C1 controls; a tab is a space. */
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

const oneLine = (text: string): string => text.replace(/\s+/g, " ").replace(CONTROL, "").trim().slice(0, MAX_TEXT);

/** What a mail reader takes for a header, for the end of the words, or for a patch. */
const SPECIAL =
  /^(?:---|diff |Index:|CVS:|From |(?:From|Subject|Date|Content-\S+|MIME-\S+|[A-Za-z]\S*-by):|.*(?:>8|8<|>%|%<))/i;

function bodyLine(text: string): string {
  const line = text.replace(CONTROL, "").trimEnd().slice(0, MAX_TEXT);
  return SPECIAL.test(line) ? `  ${line.replace(/>8|8<|>%|%</g, "…")}` : line;
}
