// Hidden checks of a request, run after all others. Without a key they are counted, and everybody is told that they were not run.
import {
  type AcceptanceOptions,
  type AcceptanceReport,
  type HiddenReport,
  runAcceptance,
  runHidden,
  verdictWith,
} from "../../acceptance/index.js";
import type { Context } from "../../operation.js";
import type { HiddenChecks } from "../../schema/hidden.js";
import type { Manifest } from "../../schema/manifest.js";
import { type InstallQuestion, openInstaller } from "../install/installer.js";
import { openSealed, readSealed } from "./sealed-checks.js";

export interface Accepted {
  /** Its verdict counts the hidden checks too. */
  readonly report: AcceptanceReport;
  /** null when the request has none. */
  readonly hidden: HiddenReport | null;
}

/** What `acceptAll` is told of what the checks need installed. */
export type InstallAnswer = Pick<InstallQuestion, "allowed" | "silent">;

/** Runs a request's acceptance: what everybody sees, then what is hidden, when a key is at hand that opens it. */
export async function acceptAll(
  asked: Omit<AcceptanceOptions, "install"> & { readonly install: InstallAnswer },
  identity: readonly string[],
  context: Context,
): Promise<Accepted> {
  const { install, ...rest } = asked;
  const options = { ...rest, install: openInstaller({ manifest: rest.manifest, ...install }, context) };
  const sealed = readSealed(options.request, options.manifest);
  const opened = sealed === null ? null : await openSealed(sealed, options.manifest, identity, context);
  const report = await runAcceptance(options);
  if (sealed === null || opened === null) return { report, hidden: null };
  const { count, digest } = sealed.summary;
  const hidden: HiddenReport = { count, digest, ...(await runOpened(opened, options, report, context)) };
  return { report: { ...report, verdict: verdictWith(report, hidden) }, hidden };
}

async function runOpened(
  opened: HiddenChecks | string,
  options: AcceptanceOptions,
  { sandboxed }: AcceptanceReport,
  context: Context,
): Promise<Pick<HiddenReport, "results" | "reason">> {
  if (typeof opened === "string") return { results: null, reason: opened };
  // In plain sight, what an earlier check left running could read them.
  if (!sandboxed && options.sandbox !== "off") {
    return { results: null, reason: "there is no sandbox to open them in; --no-sandbox runs them in plain sight" };
  }
  context.progress({ type: "hidden_started", message: "running the hidden checks" });
  return { results: await runHidden(options, opened) };
}

/** What is known without running anything. */
export function hiddenUnrun(dir: string, manifest: Manifest): HiddenReport | null {
  const sealed = readSealed(dir, manifest);
  if (sealed === null) return null;
  return { count: sealed.summary.count, digest: sealed.summary.digest, results: null, reason: "nothing was run" };
}
