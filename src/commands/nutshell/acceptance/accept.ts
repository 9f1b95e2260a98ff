import { writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { z } from "zod";
import { junitXml, rebuildTree, runAcceptance } from "../../../acceptance/index.js";
import { NutError, shellWord } from "../../../errors.js";
import { type Context, operation } from "../../../operation.js";
import { ReportShape, RunInput, tell, toShape } from "../../../request/acceptance-shapes.js";
import { acceptanceCredentials } from "../../../request/credentials.js";
import { deliveredPaths, readDelivery } from "../../../request/delivered.js";
import { type OpenedFolder, openFolder, withWorkFolder } from "../../../request/work-folder.js";

export const accept = operation({
  name: "acceptance_run",
  summary: "run a request's acceptance on a clean copy of the result",
  input: z.object({
    target: z.string().default(".").describe("the result: a folder, a delivery, or the request itself"),
    request: z.string().optional().describe("the untouched request, a bundle or a folder"),
    junit: z.string().optional().describe("write the results as JUnit XML"),
    logs: z.string().optional().describe("folder for one log per check"),
    noBaseline: z.boolean().default(false).describe("do not run passed checks on the untouched request"),
    ...RunInput,
  }),
  output: ReportShape,
  run: (input, context) =>
    withWorkFolder(context, async (work) => {
      const target = await openFolder(input.target, context, join(work, "target"));
      const request =
        input.request === undefined
          ? ownRequest(target)
          : await openFolder(input.request, context, join(work, "request"));
      const base = input.base === undefined ? request.dir : resolve(context.cwd, input.base);
      const result = resultFolder(target, base, join(work, "rebuilt"));
      const credentials = acceptanceCredentials(
        request.dir,
        input.identity,
        context,
        target.dir.startsWith(work) ? null : target.dir,
      );
      const logs = input.logs === undefined ? undefined : resolve(context.cwd, input.logs);
      const report = await runAcceptance({
        request: request.dir,
        manifest: request.manifest,
        base,
        result,
        workDir: join(work, "rooms"),
        env: context.env,
        sandbox: input.noSandbox ? "off" : "auto",
        // Without an untouched request there is nothing to compare with.
        baseline: !input.noBaseline && result !== base,
        credentials: credentials.read,
        scrub: credentials.scrub,
        ...(logs === undefined ? {} : { logs: { dir: logs, name: (file: string) => join(logs, file) } }),
        signal: context.signal,
        onProgress: tell(context),
      });
      writeJunit(input.junit, request, report.results, context);
      return toShape(report, credentials.used());
    }),
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
  results: Parameters<typeof junitXml>[1],
  { cwd }: Context,
): void {
  if (file !== undefined) writeFileSync(resolve(cwd, file), junitXml(manifest.task?.title ?? manifest.id, results));
}
