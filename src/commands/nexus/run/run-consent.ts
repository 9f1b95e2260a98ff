// A run's folder says which program is started and which commands are run, and it lies in the project, where a stranger's
// repository could have brought it. So what this account starts is noted outside, and going on with anything else is asked.
import { createHash } from "node:crypto";
import { readFileSync, realpathSync } from "node:fs";
import { basename, join } from "node:path";
import { NutError } from "../../../errors.js";
import type { Context } from "../../../operation.js";
import { askConsent, type Consent } from "../../../request/consent/consent.js";
import { lackOfSandbox, notHeld } from "../../../request/consent/held.js";
import { isAllowed, readConsentRecord, recordAllowed } from "../../../request/records/consent-record.js";
import type { RunFolder } from "../../../run/index.js";
import type { RunOptions } from "../../../schema/run.js";

export function recordStarted(folder: RunFolder, context: Context): void {
  recordAllowed(markOf(folder), context);
}

/**
 * The options a run goes on with. What lets it do more than any run may is the person's to say, here: of a run that was
 * not started here, it counts only when it is said again.
 */
export function believedOptions(folder: RunFolder, stored: RunOptions, context: Context): RunOptions {
  if (isAllowed(markOf(folder), readConsentRecord(context.env))) return stored;
  const { no_sandbox: _, allow_origins: __, allow_install: ___, oracle: ____, ...rest } = stored;
  return { ...rest, yes: false, identity: [], output: join(context.cwd, basename(stored.output)) };
}

/** Throws SANDBOX_MISSING for a run that was not started here where nothing would hold it, whatever request it names. */
export async function assertRunHeld(folder: RunFolder, noSandbox: boolean, context: Context): Promise<void> {
  if (noSandbox || isAllowed(markOf(folder), readConsentRecord(context.env))) return;
  const lack = await lackOfSandbox(context);
  if (lack !== null) throw notHeld(`run ${folder.id}`, lack);
}

/** Returns when the run may go on. Throws CONSENT_NEEDED when somebody has to be asked and nobody can be, or says no. */
export async function askToResume(
  folder: RunFolder,
  options: RunOptions,
  yes: boolean,
  context: Context,
): Promise<Consent> {
  const mark = markOf(folder);
  const agreed = `agreed-${mark}`;
  const record = readConsentRecord(context.env);
  const given = (context.env.NUTCRACKER_CONSENT ?? "").split(/[\s,]+/);
  const isKnown = isAllowed(mark, record) || isAllowed(agreed, record);
  if (!isKnown && !yes && !given.includes("all") && !given.includes(mark)) {
    const words = question(folder, options);
    if (context.ask === null || !(await context.ask.confirm(`${words}\nGo on with it?`, { initial: false }))) {
      throw new NutError(
        "CONSENT_NEEDED",
        `run ${folder.id} was not started by you here, and nobody agreed to go on with it`,
        {
          hint: `nexus resume ${folder.id} --yes goes on with it; nexus runs shows what it is`,
          data: { run: folder.id, digest: mark, question: `${words}\nGo on with it?`, agree: mark },
        },
      );
    }
    recordAllowed(agreed, context);
  }
  const { request, identity = [], no_sandbox: noSandbox = false } = options;
  return askConsent({ sources: [request], yes: yes || options.yes, identity, noSandbox, agents: true }, context);
}

const question = ({ id }: RunFolder, options: RunOptions): string => {
  const { title, driver, command, reviewer, reviewer_command: reviews, request, repo, output } = options;
  const lines = [
    `Run ${id} was not started by you here: ${title}`,
    `  starts: ${command === undefined ? driver : `${driver} (${command})`}`,
    ...(reviewer === undefined ? [] : [`  reviews: ${reviews === undefined ? reviewer : `${reviewer} (${reviews})`}`]),
    `  request: ${request}`,
    ...(repo === undefined ? [] : [`  shows its agents: ${repo}`]),
    `  writes: ${output}`,
  ];
  // They are a stranger's words: none of them makes a line of its own.
  return lines.map((line) => line.trimEnd().replace(/\s*[\n\r\v\f\u0085\u2028\u2029]\s*/g, " ")).join("\n");
};

/** What the run was started with, and where. */
function markOf({ root, options }: RunFolder): string {
  const hash = createHash("sha256")
    .update(`${realpathSync(root)}\0`)
    .update(readFileSync(options));
  return `run:${hash.digest("hex")}`;
}
