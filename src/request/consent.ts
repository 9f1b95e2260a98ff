// The one question before a stranger's commands run: who it is from, what it runs, what it wants to reach. Asked once per
// content digest. What this account packed here, and folders it works in, are not asked about.
import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { contentDigest, openBundle, openContent } from "../bundle/index.js";
import { NutError } from "../errors.js";
import type { Context } from "../operation.js";
import { Criteria } from "../schema/criteria.js";
import { Endpoints } from "../schema/endpoints.js";
import type { Manifest } from "../schema/manifest.js";
import { isAllowed, readConsentRecord, recordAllowed, strangerDigest } from "./consent-record.js";
import { configFolder, hasHome } from "./keys.js";
import { readOwn } from "./record-file.js";
import { unsealed } from "./sealed.js";

export interface ConsentQuestion {
  /** Bundles and folders whose commands or code are about to run, as typed. */
  readonly sources: readonly string[];
  /** The person said yes beforehand: --yes. */
  readonly yes: boolean;
  /** Keys that open a sealed one, besides one's own. */
  readonly identity?: readonly string[];
  /** --no-sandbox: nothing below about network and files would be held. */
  readonly noSandbox?: boolean;
}

/** What is about to run and is nobody's here. */
interface Stranger {
  readonly digest: string;
  readonly manifest: Manifest;
  readonly wants: Wants;
}

interface Wants {
  readonly runs: readonly string[];
  readonly network: readonly string[];
  readonly credentials: readonly string[];
}

/** Returns when everything may run. Throws CONSENT_NEEDED when somebody has to be asked and nobody can be, or says no. */
export async function askConsent(question: ConsentQuestion, context: Context): Promise<void> {
  const { sources, yes, identity = [], noSandbox = false } = question;
  const strangers: Stranger[] = [];
  for (const path of new Set(sources.map((source) => resolve(context.cwd, source)))) {
    const stranger = await strangerAt(path, identity, context);
    if (stranger !== null) strangers.push(stranger);
  }
  if (strangers.length === 0) return;
  if (yes) return tell(strangers, context);
  const words = [...strangers.flatMap((one) => describe(one, noSandbox)), "Run this on your machine?"].join("\n");
  if (context.ask === null || !(await context.ask.confirm(words, { initial: false }))) throw needed(strangers);
  for (const { digest } of strangers) recordAllowed(digest, context);
}

async function strangerAt(path: string, identity: readonly string[], context: Context): Promise<Stranger | null> {
  if (!existsSync(path)) return null;
  const record = readConsentRecord(context.env);
  const isFolder = statSync(path).isDirectory();
  const known = isFolder ? strangerDigest(path, record) : await bundleDigest(path, identity, context);
  if (known === null) return null;
  const digest = known === "" ? contentDigest(path) : known;
  if (isAllowed(digest, record) || allowedBeforehand(digest, context.env)) return null;
  const content = await openContent(await unsealed(path, identity, context), { signal: context.signal });
  try {
    const { manifest } = content;
    const read = async (file: string) => (content.files.has(file) ? content.read(file) : null);
    return { digest, manifest, wants: await wantsOf(manifest, read) };
  } finally {
    await content.close();
  }
}

export async function bundleDigest(path: string, identity: readonly string[], context: Context): Promise<string> {
  const source = await unsealed(path, identity, context);
  const bundle = await openBundle(source, { signal: context.signal, lenient: true });
  try {
    return await bundle.contentDigest();
  } finally {
    await bundle.close();
  }
}

const Policy = z.looseObject({ consent: z.looseObject({ allow: z.array(z.string()) }).optional() });

/** NUTCRACKER_CONSENT holds digests, or `all` where every request is known beforehand; config.json the lasting ones. */
function allowedBeforehand(digest: string, env: Context["env"]): boolean {
  const given = (env.NUTCRACKER_CONSENT ?? "").split(/[\s,]+/);
  return given.includes(digest) || given.includes("all") || policyAllows(digest, env);
}

/** People keep their settings behind links; whoever may write what they lead to decides. */
function policyAllows(digest: string, env: Context["env"]): boolean {
  if (!hasHome(env)) return false;
  const text = readOwn(join(configFolder(env), "config.json"), { link: true });
  let parsed: ReturnType<typeof Policy.safeParse>;
  try {
    parsed = Policy.safeParse(JSON.parse(text ?? "null"));
  } catch {
    return false;
  }
  return parsed.success && parsed.data.consent?.allow.includes(digest) === true;
}

type Read = (path: string) => Promise<Uint8Array | null>;

/** What a request would run and reach, read leniently: what cannot be read is refused later, by those who run it. */
async function wantsOf(manifest: Manifest, read: Read): Promise<Wants> {
  const { acceptance, apis, credentials } = manifest;
  const criteria = await readAs(acceptance?.criteria_file ?? "tests/criteria.json", Criteria, read);
  const endpoints = await readAs(apis?.endpoints_spec ?? "apis/endpoints.json", Endpoints, read);
  const checks = criteria?.criteria ?? [];
  const runs = checks.flatMap(({ command, script, start, endpoint, query }) =>
    [command, script, start, endpoint, query].filter((one) => one !== undefined),
  );
  const urls = [
    ...checks.map(({ base_url }) => base_url),
    endpoints?.base_url,
    ...Object.values(apis?.base_urls ?? {}),
  ].filter((url) => url !== undefined);
  const asksByCredential = checks.some(
    ({ type, script, command, credential_ref: credential }) =>
      type !== "sql_check" && (script ?? command) !== undefined && credential !== undefined,
  );
  const scopes = (credentials?.scopes ?? []).map(({ name, access_level: access }) =>
    access === undefined ? name : `${name} (${access})`,
  );
  const hidden = acceptance?.hidden === undefined ? [] : [`hidden checks: ${acceptance.hidden.count}`];
  return {
    runs: distinct([...runs, ...(acceptance?.test_scripts ?? []), ...hidden]),
    network: distinct([...urls.map(originOf), ...(asksByCredential ? ["where its credentials say they belong"] : [])]),
    credentials: distinct(scopes),
  };
}

async function readAs<T>(path: string, schema: z.ZodType<T>, read: Read): Promise<T | null> {
  const bytes = await read(path.replace(/^\.\//, ""));
  if (bytes === null) return null;
  try {
    return schema.safeParse(JSON.parse(Buffer.from(bytes).toString("utf8"))).data ?? null;
  } catch {
    return null;
  }
}

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : url);
const distinct = (items: readonly string[]): string[] => [...new Set(items)];

const SHOWN = 12;
const LONGEST = 160;

/** A few lines a person can judge by. Names are the sender's own words. */
function describe({ digest, manifest, wants }: Stranger, noSandbox: boolean): string[] {
  const name = manifest.publisher?.name;
  const lines: [string, readonly string[]][] = [
    ["from", [name === undefined ? "nobody named" : `${oneLine(name)} (a name anyone can write)`]],
    ["runs", manifest.bundle_type === "delivery" ? ["the code it delivers"] : wants.runs],
    ["network", noSandbox ? ["all of it, this machine's own too: there is no sandbox"] : wants.network],
    ["credentials", [...wants.credentials, ...unboundVault(manifest)]],
    ["files", [noSandbox ? "all you can read and change: there is no sandbox" : "a copy of its own folder"]],
    ["digest", [digest]],
  ];
  const title = oneLine(manifest.task?.title ?? manifest.id);
  return [
    `A ${manifest.bundle_type} that was not made here: ${title}`,
    ...lines.map(([label, items]) => `  ${label}: ${listed(items)}`),
  ];
}

const unboundVault = ({ credentials }: Manifest): string[] =>
  credentials?.vault === undefined || credentials.binding !== undefined
    ? []
    : ["from a vault that is not bound to this request"];

function listed(items: readonly string[]): string {
  if (items.length === 0) return "none";
  const more = items.length > SHOWN ? `; and ${items.length - SHOWN} more` : "";
  return `${items.slice(0, SHOWN).map(oneLine).join("; ")}${more}`;
}

function oneLine(text: string): string {
  const flat = text.replace(/\s+/g, " ");
  return flat.length > LONGEST ? `${flat.slice(0, LONGEST)}…` : flat;
}

function tell(strangers: readonly Stranger[], context: Context): void {
  for (const { manifest, wants } of strangers) {
    const message = `runs what was not made here: ${oneLine(manifest.task?.title ?? manifest.id)} (${listed(wants.runs)})`;
    context.progress({ type: "consent", message });
  }
}

function needed(strangers: readonly Stranger[]): NutError {
  const digests = strangers.map(({ digest }) => digest);
  const [first] = strangers;
  const { bundle_type: kind, task, id } = first!.manifest;
  const message = `this ${kind} was not made here and nobody agreed to run it: ${oneLine(task?.title ?? id)}`;
  return new NutError("CONSENT_NEEDED", message, {
    hint: `export NUTCRACKER_CONSENT=${digests.join(",")} (or --yes) runs it; nutshell inspect shows what it holds`,
    data: { strangers: strangers.map(({ digest, wants }) => ({ digest, ...wants })) },
  });
}
