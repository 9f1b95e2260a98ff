// The delivery: a folder with what changed and what is known about it, packed, checked, and named in the journal.
import { createHash } from "node:crypto";
import { cpSync, createReadStream, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Change, deliverable, writeArtifacts } from "../../acceptance/index.js";
import { openBundle, packFolder, writeManifest } from "../../bundle/index.js";
import { NutError, shellWord } from "../../errors.js";
import { clearAway, makeFolder } from "../../files/index.js";
import { PATCH_FILE, workPatch, writePatch } from "../../request/apply/delivery-patch.js";
import { leaksIn, leakText } from "../../request/pack/leak-guard.js";
import { recordPacked } from "../../request/records/consent-record.js";
import { Delivery } from "../../schema/delivery.js";
import type { AcceptedReport, JournalRecord } from "../../schema/journal.js";
import type { Manifest } from "../../schema/manifest.js";
import type { RunFacts } from "../../statements/index.js";
import { GitStore } from "../../trees/git/store.js";
import type { Leak } from "../../vault/index.js";
import { CREDENTIAL_USES } from "../record/credential-uses.js";
import { readJournal } from "../record/journal.js";
import { type Run, record, stretchMs } from "../run.js";
import { assertUntouched } from "./accept-run.js";
import { deliveryResult } from "./delivery-result.js";
import { placeBundle } from "./place-bundle.js";

const RESULT = "delivery/result.json";

/** Whether a killed process has delivered just what the acceptance now found: same tree, same status, same bytes. */
export async function isDelivered(run: Run, accepted: AcceptedReport): Promise<boolean> {
  const { delivered } = run.state;
  if (delivered === null || !existsSync(delivered.path)) return false;
  const { id, status, digests } = resultOf(run, accepted);
  if ((await hashOf(delivered.path)) !== delivered.hash) return false;
  const recorded = await recordedResult(delivered.path);
  return (
    recorded !== null &&
    recorded.id === id &&
    recorded.status === status &&
    recorded.digests?.result === digests?.result
  );
}

/** null when the bundle holds none that can be read: then it is made again. */
async function recordedResult(path: string): Promise<Delivery | null> {
  try {
    const bundle = await openBundle(path);
    try {
      return Delivery.parse(JSON.parse(await bundle.readText(RESULT)));
    } finally {
      await bundle.close();
    }
  } catch {
    return null;
  }
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return `sha256:${hash.digest("hex")}`;
}

function resultOf(run: Run, accepted: AcceptedReport): Delivery {
  return deliveryResult({
    run: run.folder.id,
    manifest: run.manifest,
    state: run.state,
    accepted,
    agent: run.runner.about,
    model: run.options.model,
    now: run.context.now(),
    isOwnTest: run.isOwnTest,
  });
}

/** Packs what was done and records it as delivered. */
export async function deliver(run: Run, accepted: AcceptedReport): Promise<void> {
  const { folder, manifest } = run;
  // The acceptance ran code of the result; what is delivered is the tree it ran on.
  const untouched = assertUntouched(run);
  const result = resultOf(run, accepted);
  const scrubbed = JSON.parse(run.secrets.scrub(JSON.stringify(result))) as Delivery;
  rmSync(folder.delivery, { recursive: true, force: true });
  makeFolder(join(folder.delivery, "delivery/logs"));
  const changes = accepted.changes.filter(({ path }) => !run.isOwnTest(path));
  writeArtifacts(folder.main, folder.delivery, changes);
  writeLogs(run);
  const clean = await withPatch(run, withLeaks(scrubbed, await leaksIn(folder.delivery)), changes);
  writeFileSync(join(folder.delivery, RESULT), `${JSON.stringify(clean, null, 2)}\n`);
  writeManifest(folder.delivery, deliveryManifest(manifest, clean, run.context.now()));
  await untouched;
  const { path, hash } = await pack(run, clean.id!, accepted);
  record(run, { type: "delivered", path, hash, status: clean.status, ms: stretchMs(run) });
}

/** Work in a repository also goes along as a patch; a tree that git cannot hold goes without, and says so. */
async function withPatch(run: Run, result: Delivery, changes: readonly Change[]): Promise<Delivery> {
  const { folder, context, manifest } = run;
  if (result.base === undefined) return result;
  const world = { env: context.env, signal: run.halt.signal };
  try {
    const store = await GitStore.open({ repo: folder.base, scratch: folder.scratch }, world);
    const base = { commit: result.base.commit, folder: folder.base };
    const title = manifest.task?.title;
    const work = { store, base, result: folder.main, changes: deliverable(changes), delivery: result, title };
    writePatch(folder.delivery, await workPatch({ ...work, at: context.now() }));
    return { ...result, patch: PATCH_FILE };
  } catch (error) {
    if (!(error instanceof NutError) || error.code !== "REPOSITORY_FAILED") throw error;
    return withIssues(result, [`no patch could be made: ${error.message}`]);
  }
}

async function pack(
  run: Run,
  id: string,
  accepted: AcceptedReport,
): Promise<{ readonly path: string; readonly hash: string }> {
  const { output } = run.options;
  makeFolder(dirname(output));
  const temporary = join(dirname(output), `.${run.folder.id}.nut`);
  try {
    const { contentDigest } = await packFolder(run.folder.delivery, {
      output: temporary,
      ignoreRules: false,
      signal: run.halt.signal,
    });
    await assertSound(temporary);
    const unsigned = await signDelivery(run, temporary, accepted);
    const hash = await hashOf(temporary);
    const path = await placeBundle(temporary, output, async (other) => (await recordedResult(other))?.id === id);
    recordPacked(run.folder.delivery, contentDigest, run.context);
    if (path !== output)
      record(run, { type: "issue", message: `${output} was taken meanwhile: the delivery is ${path}` });
    if (unsigned !== null) {
      const message = `${unsigned}; sign it with: nutshell sign ${shellWord(path)}`;
      run.context.progress({ type: "warning", message });
    }
    return { path, hash };
  } finally {
    clearAway(temporary);
  }
}

/** Work of hours is not lost over a key that no longer signs: it is delivered unsigned, and why is the answer. */
async function signDelivery(run: Run, path: string, accepted: AcceptedReport): Promise<string | null> {
  const { signer, state, options, context } = run;
  if (signer === undefined) return null;
  const { signBundle } = await import("../../request/signatures/sign-bundle.js");
  const models = [...new Set([...state.agents.values()].flatMap(({ model }) => model ?? []))];
  const { name, version } = run.runner.about;
  const facts: RunFacts = {
    run: run.folder.id,
    startedOn: options.created_at,
    agents: [
      { driver: name, ...(version === undefined ? {} : { version }), ...(models.length === 0 ? {} : { models }) },
    ],
    sandboxed: accepted.sandboxed,
    compared: accepted.compared,
    proven: accepted.counts.proven,
    ...(accepted.trials === undefined ? {} : { trials: accepted.trials }),
  };
  try {
    const { envelope } = await signBundle({ path, key: signer, sidecar: false, facts }, context);
    context.progress({ type: "signed", message: `the delivery is signed with key ${envelope.signatures[0]!.keyid}` });
    return null;
  } catch (error) {
    if (!(error instanceof NutError)) throw error;
    const message = `the delivery is not signed: ${error.message}`;
    record(run, { type: "issue", message });
    return message;
  }
}

/** What looks like a secret is told and not held back: the work stays here, and `pack` and `deliver` ask before it leaves. */
function withLeaks(result: Delivery, leaks: readonly Leak[]): Delivery {
  if (leaks.length === 0) return result;
  return withIssues(
    result,
    leaks.map((leak) => `${leakText(leak)} looks like a secret`),
  );
}

function withIssues(result: Delivery, notes: readonly string[]): Delivery {
  const issues = result.execution_log?.issues_encountered ?? [];
  return { ...result, execution_log: { ...result.execution_log, issues_encountered: [...issues, ...notes] } };
}

function deliveryManifest(request: Manifest, result: Delivery, now: Date): Manifest {
  const { tags = {}, digests, ...rest } = result;
  const { title, summary } = request.task ?? {};
  return {
    ...rest,
    nutshell_version: "0.2.0",
    bundle_type: "delivery",
    id: result.id!,
    created_at: now.toISOString(),
    task: { ...(title === undefined ? {} : { title }), ...(summary === undefined ? {} : { summary }) },
    // What the work is a part of: merge needs to know.
    ...(request.extensions?.split === undefined ? {} : { extensions: { split: request.extensions.split } }),
    tags: { ...(request.tags?.domains === undefined ? {} : { domains: request.tags.domains }), ...tags },
    digests,
  } as Manifest;
}

/** The journal as a person reads it, what each agent said, and what the tests printed. */
function writeLogs(run: Run): void {
  const { folder, secrets } = run;
  const logs = join(folder.delivery, "delivery/logs");
  const lines = readJournal(folder.journal).map(logLine);
  writeFileSync(join(logs, "execution.log"), secrets.scrub(`${lines.join("\n")}\n`));
  const uses = join(folder.logs, CREDENTIAL_USES);
  if (existsSync(uses)) writeFileSync(join(logs, CREDENTIAL_USES), secrets.scrub(readFileSync(uses, "utf8")));
  const acceptance = join(folder.logs, "acceptance");
  if (existsSync(acceptance)) cpSync(acceptance, join(logs, "acceptance"), { recursive: true });
  for (const agent of run.state.agents.keys()) {
    const report = join(folder.agents, agent, "report.md");
    if (!existsSync(report)) continue;
    makeFolder(join(logs, "agents"));
    writeFileSync(join(logs, "agents", `${agent}.md`), secrets.scrub(readFileSync(report, "utf8")));
  }
}

function logLine({ at, type, ...rest }: JournalRecord): string {
  const short = JSON.stringify(rest, (key, value: unknown) => {
    // File contents are in the artifacts; the log names paths.
    if (key === "changes" && Array.isArray(value)) return value.map(({ kind, path }) => `${kind} ${path}`);
    if (key === "report" || key === "plan") return undefined;
    return value;
  });
  return `${at} ${type} ${short.length > 4_000 ? `${short.slice(0, 4_000)}…` : short}`;
}

async function assertSound(path: string): Promise<void> {
  const bundle = await openBundle(path);
  try {
    const wrong = (await bundle.verify()).find(({ severity }) => severity === "error");
    if (wrong !== undefined) throw new NutError("BUNDLE_CORRUPT", `${path}: ${wrong.message}`, { data: { path } });
  } finally {
    await bundle.close();
  }
}
