// The viewer as one file: facts, documents, source and pictures inside, nothing loaded from anywhere. With --harbor, a request
// in another harness's form instead.
import { createHash } from "node:crypto";
import { lstatSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { z } from "zod";
import { isText } from "../../../bundle/index.js";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { count, dim, size } from "../../../cli/text.js";
import { NutError, shellWord } from "../../../errors.js";
import { replaceFiles } from "../../../files/index.js";
import { compare } from "../../../web/view/compare.js";
import { findRequest } from "../../../web/view/find-request.js";
import { headOf } from "../../../web/view/head.js";
import { imageType } from "../../../web/view/image-types.js";
import type { EmbeddedFile, Exported, ExportedSide, FileTuple } from "../../../web/view/model.js";
import { htmlPage, pageFile } from "../../../web/view/page.js";
import { openSource, type ViewSource } from "../../../web/view/source.js";
import { survey } from "../../../web/view/survey.js";
import { exportHarbor } from "./export-harbor.js";

/** A page that is mailed: what is larger stays in the bundle. */
const MAX_FILE_BYTES = 256 * 1024;
const MAX_IMAGE_BYTES = 1024 ** 2;
const MAX_PAGE_BYTES = 12 * 1024 ** 2;

export default command({
  name: "export",
  summary: "write a bundle as one page, or a request as a Harbor task",
  input: z.object({
    bundles: positional(z.array(z.string().min(1)), {
      name: "bundle",
      about: "a .nut file or folder; two of them, a request and its delivery, to compare",
    }),
    output: flag(z.string().min(1).optional(), {
      short: "o",
      value: "<file>",
      about: "where to write the page or the task",
    }),
    harbor: flag(z.boolean().default(false), { about: "a folder that runs in Harbor, of a request" }),
    image: flag(
      z
        .string()
        .regex(/^[\w][\w.:/@-]*$/, "must be the name of an image")
        .optional(),
      {
        value: "<name>",
        about: "with --harbor: what the task's image is made from (default: by what its checks run)",
      },
    ),
    force: flag(z.boolean().default(false), { about: "replace a page that is there" }),
  }),
  output: z.object({
    path: z.string(),
    bytes: z.int().optional().describe("of the page"),
    files: z.int().describe("files inside"),
    left: z.int().describe("files that stayed in the bundle: too large, not text, or secret"),
    checks: z.int().optional().describe("with --harbor: criteria its test script runs"),
    image: z.string().optional(),
    not_carried_over: z.array(z.object({ what: z.string(), why: z.string() })).optional(),
  }),
  about: [
    "Writes what nutshell serve shows as one HTML file that needs no server and loads nothing from elsewhere.",
    "Of a delivery, the request it answers comes along when it is near (beside it, here, or where a run took it from), and with it every change. Credentials are never in it. Large files stay in the bundle and are named only.",
    "With --harbor a request becomes a task folder of Harbor (task.toml, instruction.md, environment, tests); what has no place there is listed.",
  ],
  examples: [
    ["nutshell export task.nut --harbor -o task", "a task folder: harbor run -p task"],
    ["nutshell export task.nut -o task.html", "a page to attach to a ticket"],
    ["nutshell export task.nut delivery.nut", "what came back, with every change"],
  ],
  async run({ bundles, output, force, harbor, image }, context) {
    if (harbor || image !== undefined) return exportHarbor({ bundles, output, harbor, image }, context);
    const bundle = bundles.at(-1);
    if (bundle === undefined || bundles.length > 2) {
      throw new NutError("USAGE", "nutshell export needs one bundle, or two to compare", {
        hint: "nutshell export task.nut delivery.nut",
      });
    }
    const words = bundles.map(shellWord).join(" ");
    const path = resolve(context.cwd, output ?? `${basename(resolve(context.cwd, bundle)).replace(/\.nut$/, "")}.html`);
    const there = lstatSync(path, { throwIfNoEntry: false });
    if (there?.isDirectory() === true) {
      throw new NutError("FILE_EXISTS", `${path} is a folder`, {
        hint: `nutshell export ${words} -o ${shellWord(join(path, "page.html"))}`,
      });
    }
    if (!force && there !== undefined) {
      throw new NutError("FILE_EXISTS", `${path} is there already`, {
        hint: `nutshell export ${words} -o ${shellWord(path)} --force`,
      });
    }
    const sources: ViewSource[] = [];
    try {
      for (const each of bundles) sources.push(await openSource(each, context.cwd, { signal: context.signal }));
      const request = sources.length > 1 ? null : await findRequest(sources[0]!.manifest, bundle, context.cwd);
      if (request !== null) sources.unshift(await openSource(request, context.cwd, { signal: context.signal }));
      const page = await collect(sources, context.now());
      const html = Buffer.from(selfContained(page), "utf8");
      replaceFiles([{ path, data: html }]);
      const inside = page.sides.reduce((sum, { embedded }) => sum + embedded.length, 0);
      const there = page.sides.reduce((sum, { files }) => sum + files.rows.length, 0);
      return { path, bytes: html.length, files: inside, left: there - inside };
    } finally {
      for (const source of sources) await source.close();
    }
  },
  text: ({ path, bytes, files, left, checks, image, not_carried_over: missing = [] }) =>
    bytes === undefined
      ? [
          `${path}  ${dim(`${count(files, "file")}, ${count(checks ?? 0, "check")}, from ${image}`)}`,
          ...(missing.length === 0 ? [] : ["not carried over:"]),
          ...missing.map(({ what, why }) => `  ${what}: ${why}`),
        ]
      : [`${path}  ${dim(`${size(bytes)}, ${count(files, "file")} inside${left > 0 ? `, ${left} named only` : ""}`)}`],
});

async function collect(sources: readonly ViewSource[], now: Date): Promise<Exported> {
  const sides: ExportedSide[] = [];
  for (const source of sources) {
    const { files, details } = await survey(source, now);
    const embedded = files.complete ? await embed(source, files.rows, MAX_PAGE_BYTES / sources.length) : [];
    sides.push({ head: headOf(source, now), details, files, embedded });
  }
  const [before, after] = sources.map(({ manifest }, at) => ({ manifest, rows: sides[at]!.files.rows }));
  const comparison = before === undefined || after === undefined ? null : compare(before, after);
  return { sides, comparison, exportedAt: now.toISOString() };
}

/** One pass over the bundle. Only what the manifest vouches for or says nothing about: never a file that differs. */
async function embed(source: ViewSource, rows: readonly FileTuple[], most: number): Promise<EmbeddedFile[]> {
  const wanted = new Map(
    rows.filter(([, , state, , , , withheld]) => withheld === 0 && state !== "differs").map((row) => [row[0], row]),
  );
  const found: EmbeddedFile[] = [];
  let room = most;
  await source.each((path, size) => {
    const image = imageType(path);
    if (!wanted.has(path) || size > (image === undefined ? MAX_FILE_BYTES : MAX_IMAGE_BYTES) || size > room)
      return null;
    room -= size;
    const parts: Buffer[] = [];
    return {
      chunk: (bytes) => parts.push(Buffer.from(bytes)),
      end: () => {
        const bytes = Buffer.concat(parts);
        if (image !== undefined) {
          found.push({ path, kind: "image", content: `data:${image};base64,${bytes.toString("base64")}`, cut: false });
        } else if (isText(bytes)) found.push({ path, kind: "text", content: bytes.toString("utf8"), cut: false });
      },
    };
  });
  return found;
}

/** The policy names the one script and the one style by their hash: nothing else in the page can run or reach out. */
function selfContained(page: Exported): string {
  const scriptText = (name: "viewer.js" | "formatter.js") =>
    pageFile(name).toString("utf8").replaceAll("</script", "<\\/script");
  const script = scriptText("viewer.js");
  const style = pageFile("style.css").toString("utf8").replaceAll("</style", "<\\/style");
  const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  const policy = [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    "img-src data:",
    // What formats documents; its source is in the page, as text.
    "worker-src blob:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return htmlPage({
    title: page.sides.at(-1)!.head.title === "" ? "Nutshell" : `${page.sides.at(-1)!.head.title} · Nutshell`,
    head: `<meta http-equiv="content-security-policy" content="${policy}"><style>${style}</style>`,
    body: `<script type="application/json" id="nutshell-data">${jsonInHtml(page)}</script><script type="text/plain" id="nutshell-formatter">${scriptText("formatter.js")}</script><script type="module">${script}</script>`,
  });
}

/** JSON that no HTML parser can find an end tag or a comment in. */
function jsonInHtml(value: unknown): string {
  const codes: Readonly<Record<string, string>> = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
  };
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (character) => codes[character]!);
}
