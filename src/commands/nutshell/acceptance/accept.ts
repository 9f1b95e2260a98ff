import { basename, join, resolve } from "node:path";
import { z } from "zod";
import { junitXml, rebuildTree } from "../../../acceptance/index.js";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { NutError, shellWord } from "../../../errors.js";
import { replaceFiles } from "../../../files/index.js";
import type { Context } from "../../../operation.js";
import { deliveredPaths, readDelivery } from "../../../request/apply/delivered.js";
import { findBase } from "../../../request/apply/repository-base.js";
import type { Accepted } from "../../../request/hidden/hidden.js";
import { ReportShape, toShape } from "../../../request/judge/acceptance-shapes.js";
import { type OpenedFolder, openFolder, withWorkFolder } from "../../../request/open/work-folder.js";
import { identityWords } from "../flags.js";
import { acceptHere } from "./accept-here.js";
import { ACCEPTANCE_FLAGS } from "./acceptance-flags.js";
import { reportLines } from "./acceptance-text.js";

export default command({
  name: "accept",
  summary: "run a request's acceptance on a clean copy",
  input: z.object({
    target: positional(z.string().default("."), {
      about: "the result: a folder, a delivery, or the request (default: here)",
    }),
    request: flag(z.string().optional(), {
      short: "r",
      value: "<request>",
      about: "the untouched request, a bundle or a folder",
    }),
    junit: flag(z.string().optional(), { value: "<file>", about: "write the results as JUnit XML" }),
    logs: flag(z.string().optional(), { value: "<dir>", about: "keep one log per check" }),
    noBaseline: flag(z.boolean().default(false), { about: "do not ask what the untouched request already passes" }),
    ...ACCEPTANCE_FLAGS,
  }),
  output: ReportShape,
  about: [
    "Rebuilds the result beside the workspace, puts the request's own tests back as they were, and runs criteria and test scripts there: sandboxed, without a network, within their time limits.",
    "With --request, every check that passes is run on the untouched request too: one that passes there proves nothing. Without it nothing is proven: there is nothing to compare with.",
  ],
  examples: [
    ["nutshell accept ./work --request task.nut", "does the work pass?"],
    ["nutshell accept ./work -r task.nut --junit report.xml", "in CI"],
    ["nutshell accept task.nut", "what the request passes before any work"],
  ],
  run: (input, context) =>
    withWorkFolder(context, async (work) => {
      const target = await openFolder(input.target, context, join(work, "target"), input.identity);
      const request =
        input.request === undefined
          ? ownRequest(target)
          : await openFolder(input.request, context, join(work, "request"), input.identity);
      const isDelivery = target.manifest.bundle_type === "delivery";
      const { folder: base } = await findBase(
        {
          delivery: isDelivery ? readDelivery(target.dir, target.manifest, input.target) : null,
          request: request.dir,
          typed: input.base,
          scratch: join(work, "repository"),
          command: `nutshell accept ${shellWord(input.target)} --request ${shellWord(input.request ?? input.target)}${identityWords(input.identity)}`,
        },
        context,
      );
      const result = resultFolder(target, base, join(work, "rebuilt"));
      const logs = input.logs === undefined ? undefined : resolve(context.cwd, input.logs);
      const { accepted, credentialsUsed } = await acceptHere(
        {
          request,
          base,
          result,
          work,
          sources: [
            { typed: input.request ?? input.target, opened: request },
            { typed: input.target, opened: target },
          ],
          uses: target.dir.startsWith(work) ? null : target.dir,
          // Without an untouched request there is nothing to compare with.
          baseline: !input.noBaseline && result !== base,
          ...(logs === undefined ? {} : { logs: { dir: logs, name: (file: string) => join(logs, file) } }),
        },
        input,
        context,
      );
      writeJunit(input.junit, request, accepted, context);
      return toShape(accepted, credentialsUsed);
    }),
  text: reportLines,
  exit: ({ verdict }) => (verdict === "passed" ? 0 : 1),
});

function ownRequest(target: OpenedFolder): OpenedFolder {
  if (target.manifest.bundle_type !== "delivery") return target;
  throw new NutError("USAGE", "a delivery is checked against its request", {
    hint: `nutshell accept ${shellWord(basename(target.dir))} --request request.nut`,
  });
}

function resultFolder(target: OpenedFolder, base: string, rebuilt: string): string {
  if (target.manifest.bundle_type !== "delivery") return target.dir;
  rebuildTree(base, target.dir, deliveredPaths(readDelivery(target.dir, target.manifest)), rebuilt);
  return rebuilt;
}

function writeJunit(
  file: string | undefined,
  { manifest }: OpenedFolder,
  { report, hidden }: Accepted,
  { cwd }: Context,
): void {
  if (file === undefined) return;
  // A report is handed on: of hidden checks it says how they ended, and nothing else.
  const unrun = Array.from({ length: hidden?.count ?? 0 }, (_, n) => ({
    id: `hidden ${n + 1}`,
    status: "skipped" as const,
  }));
  const sealed = (hidden?.results ?? unrun).map(({ id, status }) => ({
    ...{ id, status, type: "hidden", output: "" },
    ...(status === "skipped" ? { reason: "hidden, not run" } : {}),
  }));
  const data = junitXml(manifest.task?.title ?? manifest.id, [...report.results, ...sealed], report.verdict);
  replaceFiles([{ path: resolve(cwd, file), data }]);
}
