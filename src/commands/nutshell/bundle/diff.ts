import { z } from "zod";
import { diffContents } from "../../../bundle/index.js";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { bold, cyan, dim, green, red, yellow } from "../../../cli/text.js";
import { openTarget } from "../../../request/open/target.js";

const Row = z.object({
  field: z.string(),
  a: z.string(),
  b: z.string(),
  kind: z.enum(["added", "removed", "changed", "acceptance"]),
  path: z.string().optional(),
  text: z.array(z.string()).optional(),
});
type Row = z.infer<typeof Row>;

export default command({
  name: "diff",
  summary: "compare two bundles or folders",
  input: z.object({
    a: positional(z.string().min(1), {
      about: "a .nut file, a folder, or - for standard input; usually the request",
    }),
    b: positional(z.string().min(1), { about: "the other one; usually the delivery" }),
    text: flag(z.boolean().default(false), { short: "t", about: "show what changed inside text files" }),
  }),
  output: z.array(Row),
  about: [
    "Compares manifest fields, then files by content. When the second is a delivery, every point of the first one's checklist is shown with its result.",
    "Exit status: 0 the same, 1 different, 2 could not compare.",
  ],
  examples: [
    ["nutshell diff request.nut delivery.nut", "what was asked and what came back"],
    ["nutshell diff task.nut my-task --text", "a bundle against a folder, line by line"],
  ],
  async run({ a, b, text }, context) {
    const left = await openTarget(a, context);
    try {
      const right = await openTarget(b, context);
      try {
        const rows = await diffContents(left, right, { text });
        return rows.map(({ text: lines, ...row }) => ({
          ...row,
          ...(lines === undefined ? {} : { text: [...lines] }),
        }));
      } finally {
        await right.close();
      }
    } finally {
      await left.close();
    }
  },
  text(rows) {
    if (rows.length === 0) return ["no differences"];
    const fields = rows.filter(({ path, kind }) => path === undefined && kind !== "acceptance");
    const files = rows.filter(({ path }) => path !== undefined);
    const answers = rows.filter(({ kind }) => kind === "acceptance");
    return [
      ...section("Manifest", fields, fieldLines),
      ...section("Files", files, fileLines),
      ...section("Acceptance", answers, answerLines),
    ].slice(0, -1);
  },
  exit: (rows) => (rows.length === 0 ? 0 : 1),
});

function section(heading: string, rows: readonly Row[], lines: (row: Row) => string[]): string[] {
  return rows.length === 0 ? [] : [bold(heading), ...rows.flatMap(lines), ""];
}

function fieldLines({ field, a, b, kind }: Row): string[] {
  if (kind === "added") return [`  ${green("+")} ${field}: ${b}`];
  if (kind === "removed") return [`  ${red("-")} ${field}: ${a}`];
  return [`  ${yellow("~")} ${field}: ${a} → ${b}`];
}

const bytes = (text: string) => text.replace(/ sha256:[0-9a-f]*/, "");

function fileLines({ path, a, b, kind, text = [] }: Row): string[] {
  const diffLines = text.map((line) => {
    if (line.startsWith("@@")) return `      ${cyan(line)}`;
    return `      ${line.startsWith("+") ? green(line) : line.startsWith("-") ? red(line) : line}`;
  });
  if (kind === "added") return [`  ${green("+")} ${path} ${dim(bytes(b))}`, ...diffLines];
  if (kind === "removed") return [`  ${red("-")} ${path} ${dim(bytes(a))}`, ...diffLines];
  return [`  ${yellow("~")} ${path} ${dim(`${bytes(a)} → ${bytes(b)}`)}`, ...diffLines];
}

function answerLines({ field, b }: Row): string[] {
  const mark = b.startsWith("passed")
    ? green("✓")
    : b.startsWith("failed") || b === "unanswered"
      ? red("✗")
      : yellow("?");
  return [`  ${mark} ${field.slice("acceptance.".length)}: ${b}`];
}
