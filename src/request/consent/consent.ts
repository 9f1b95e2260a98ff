// The one question before a stranger's commands run: who it is from, what it runs, what it wants to reach. Asked once per
// content digest. What this account packed here, folders it works in, and what somebody it trusts has signed are not asked
// about; a policy that says whose requests may run is obeyed before any question, and no yes goes past it.
import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { contentDigest, openBundle, openContent, readManifest } from "../../bundle/index.js";
import { NutError } from "../../errors.js";
import type { Context } from "../../operation.js";
import { addressOf } from "../../schema/address.js";
import { Criteria } from "../../schema/criteria.js";
import { Endpoints } from "../../schema/endpoints.js";
import type { Manifest } from "../../schema/manifest.js";
import { requestRefusal, type Voucher } from "../../statements/index.js";
import { installWords } from "../install/installer.js";
import { unsealed } from "../pack/sealed.js";
import { isAllowed, readConsentRecord, recordAllowed, strangerDigest } from "../records/consent-record.js";
import { readOwn } from "../records/record-file.js";
import { contradicts, subjectOf, vouchersOf } from "../signatures/signatures.js";
import { readPolicies } from "../signatures/trust-files.js";
import { configFolder, hasHome } from "../vault/keys.js";

export interface ConsentQuestion {
  /** Bundles and folders whose commands or code are about to run, as typed. */
  readonly sources: readonly string[];
  /** The person said yes beforehand: --yes. */
  readonly yes: boolean;
  /** A policy named at the command line, besides those that always hold. */
  readonly policy?: string | undefined;
  /** Keys that open a sealed one, besides one's own. */
  readonly identity?: readonly string[];
  /** --no-sandbox: nothing below about network and files would be held. */
  readonly noSandbox?: boolean;
  /** Agents will work on it, who have the person's network. */
  readonly agents?: boolean;
}

/** The same for whoever opens it later; nothing where there is nothing to hold it against. */
export function agreedTo(
  looks: readonly Looked[],
  path: string,
): { readonly onOpened?: (digest: string) => Promise<void> } {
  if (!looks.some(({ digests }) => digests.has(path))) return {};
  return { onOpened: (digest) => assertAgreed(looks, path, { digest: async () => digest }) };
}

/** What is about to run and is nobody's here. */
interface Stranger {
  readonly digest: string;
  readonly manifest: Manifest;
  readonly wants: Wants;
  /** Who signed it, for the kind of bundle it is. */
  readonly vouchers: readonly Voucher[];
}

interface Wants {
  readonly runs: readonly string[];
  readonly installs: readonly string[];
  readonly network: readonly string[];
  readonly credentials: readonly string[];
}

/** What a yes to the question covered besides running it. */
export interface Consent {
  /** What the checks need may be installed, as the question said. */
  readonly install: boolean;
  /** What was looked at, by path: bundles, and folders of other accounts. Whoever runs one holds it against this. */
  readonly digests: ReadonlyMap<string, string>;
}

/** What somebody looked at. */
export type Looked = Pick<Consent, "digests">;

/** Throws CONSENT_NEEDED when what is about to run is not what was looked at: others may write where it lies. */
export async function assertAgreed(
  looks: readonly Looked[],
  path: string,
  opened: { digest(): Promise<string> },
): Promise<void> {
  const asked = looks.flatMap(({ digests }) => digests.get(path) ?? []);
  if (asked.length === 0) return;
  const digest = await opened.digest();
  if (asked.every((one) => one === digest)) return;
  throw new NutError("CONSENT_NEEDED", `${path} changed while it was looked at, and nobody agreed to what it is now`, {
    hint: "copy it to a folder that only you may write to, and try again",
    data: { path, digest },
  });
}

/**
 * Returns when everything may run. Throws CONSENT_NEEDED when somebody has to be asked and nobody can be, or says no, and
 * POLICY_REFUSED when a policy says no.
 */
export async function askConsent(question: ConsentQuestion, context: Context): Promise<Consent> {
  const { sources, yes, policy, identity = [], noSandbox = false, agents = false } = question;
  const paths = [...new Set(sources.map((source) => resolve(context.cwd, source)))].filter((path) => existsSync(path));
  await assertPolicy(paths, policy, identity, context);
  const strangers: Stranger[] = [];
  const digests = new Map<string, string>();
  for (const path of paths) {
    const asked = await digestAsked(path, identity, context);
    if (asked?.isSeen === true) digests.set(path, asked.digest);
    const stranger = asked === null ? null : await strangerAt(path, asked.digest, identity, context);
    if (stranger === null) continue;
    const publisher = knownPublisher(stranger);
    if (publisher === null) strangers.push(stranger);
    else tell([stranger], context, `runs what ${publisher} signed`);
  }
  const agreed = { install: false, digests };
  if (strangers.length === 0) return agreed;
  if (yes) {
    tell(strangers, context, "runs what was not made here");
    return agreed;
  }
  const words = [...strangers.flatMap((one) => describe(one, { noSandbox, agents })), "Run this on your machine?"].join(
    "\n",
  );
  if (context.ask === null || !(await context.ask.confirm(words, { initial: false }))) throw needed(strangers, words);
  for (const { digest } of strangers) recordAllowed(digest, context);
  return { install: strangers.some(({ wants }) => wants.installs.length > 0), digests };
}

/** Throws POLICY_REFUSED for a request that nobody signed whose requests may be run. A folder carries no signature in itself. */
async function assertPolicy(
  paths: readonly string[],
  named: string | undefined,
  identity: readonly string[],
  context: Context,
): Promise<void> {
  const { demands } = await readPolicies(named, context);
  if (!demands.some(({ requests }) => requests !== undefined)) return;
  for (const path of paths) {
    const { manifest, digest } = await identify(path, identity, context);
    if (manifest.bundle_type === "delivery") continue;
    const why = requestRefusal(demands, vouchersOf(path, subjectOf(manifest, digest), context));
    if (why === null) continue;
    throw new NutError("POLICY_REFUSED", `${path}: ${why}`, {
      hint: "nutshell trust list shows whom you trust; where you may ask for it yourself: nutshell sign '<file>'",
      data: { path, digest },
    });
  }
}

async function identify(
  path: string,
  identity: readonly string[],
  context: Context,
): Promise<{ manifest: Manifest; digest: string }> {
  if (statSync(path).isDirectory()) return { manifest: readManifest(path), digest: contentDigest(path) };
  const source = await unsealed(path, identity, context);
  const bundle = await openBundle(source, { signal: context.signal, lenient: true });
  try {
    return { manifest: bundle.manifest, digest: await bundle.contentDigest() };
  } finally {
    await bundle.close();
  }
}

/** Who of those you trust signed it, when the manifest does not name somebody else as its publisher. */
function knownPublisher({ manifest, vouchers }: Stranger): string | null {
  const known = vouchers.find((one) => one.standing === "trusted" && !contradicts(manifest, one));
  return known === undefined ? null : known.principals.join(", ");
}

/** What a yes would be about; null for the person's own folder. `isSeen`: it is of what lies there now. */
export async function digestAsked(
  path: string,
  identity: readonly string[],
  context: Context,
): Promise<{ readonly digest: string; readonly isSeen: boolean } | null> {
  if (!statSync(path).isDirectory()) return { digest: await bundleDigest(path, identity, context), isSeen: true };
  const known = strangerDigest(path, readConsentRecord(context.env));
  if (known === null) return null;
  return known === "" ? { digest: contentDigest(path), isSeen: true } : { digest: known, isSeen: false };
}

export async function bundleDigest(path: string, identity: readonly string[], context: Context): Promise<string> {
  return (await identify(path, identity, context)).digest;
}

async function strangerAt(
  path: string,
  digest: string,
  identity: readonly string[],
  context: Context,
): Promise<Stranger | null> {
  if (isAllowed(digest, readConsentRecord(context.env)) || allowedBeforehand(digest, context.env)) return null;
  const content = await openContent(await unsealed(path, identity, context), { signal: context.signal });
  try {
    const { manifest } = content;
    const read = async (file: string) => (content.files.has(file) ? content.read(file) : null);
    const vouchers = vouchersOf(path, subjectOf(manifest, digest), context).filter(
      ({ kind }) => kind === (manifest.bundle_type === "delivery" ? "delivery" : "request"),
    );
    return { digest, manifest, wants: await wantsOf(manifest, read), vouchers };
  } finally {
    await content.close();
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
  const runs = checks.flatMap(({ command, script, start, setup, endpoint, query }) =>
    [command, script, start, setup, endpoint, query].filter((one) => one !== undefined),
  );
  const urls = [
    ...checks.map(({ base_url }) => base_url),
    endpoints?.base_url,
    ...Object.values(apis?.base_urls ?? {}),
  ].filter((url) => url !== undefined);
  const asksByCredential = checks.some(({ type, script, command, database, credential_ref: credential }) =>
    type === "sql_check" ? database === undefined : (script ?? command) !== undefined && credential !== undefined,
  );
  const scopes = (credentials?.scopes ?? []).map(({ name, access_level: access }) =>
    access === undefined ? name : `${name} (${access})`,
  );
  const hidden = acceptance?.hidden === undefined ? [] : [`hidden checks: ${acceptance.hidden.count}`];
  return {
    runs: distinct([...runs, ...(acceptance?.test_scripts ?? []), ...hidden]),
    installs: installsOf(manifest),
    network: distinct([...urls.map(originOf), ...(asksByCredential ? ["where its credentials say they belong"] : [])]),
    credentials: distinct(scopes),
  };
}

function installsOf(manifest: Manifest): string[] {
  try {
    return installWords(manifest);
  } catch (error) {
    if (error instanceof NutError) return [];
    throw error;
  }
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

const originOf = (url: string): string => addressOf(url)?.origin ?? url;
const distinct = (items: readonly string[]): string[] => [...new Set(items)];

const SHOWN = 12;
const LONGEST = 160;

/** A few lines a person can judge by. Names are the sender's own words. */
function describe(
  { digest, manifest, wants, vouchers }: Stranger,
  { noSandbox, agents }: { noSandbox: boolean; agents: boolean },
): string[] {
  const name = manifest.publisher?.name;
  const lines: [string, readonly string[]][] = [
    ["from", [name === undefined ? "nobody named" : `${oneLine(name)} (a name anyone can write)`]],
    ["signed", signedWords(manifest, vouchers)],
    ["runs", manifest.bundle_type === "delivery" ? ["the code it delivers"] : wants.runs],
    ...(wants.installs.length === 0 ? [] : [["installs", wants.installs] satisfies [string, readonly string[]]]),
    ["network", noSandbox ? ["all of it, this machine's own too: there is no sandbox"] : networkOf(wants, agents)],
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

const networkOf = ({ network }: Wants, agents: boolean): readonly string[] =>
  agents
    ? ["agents: all of it, this machine's own too", `checks: ${network[0] ?? "none"}`, ...network.slice(1)]
    : network;

/** A signature of nobody you know tells that two bundles are from one key, and no more. */
function signedWords(manifest: Manifest, vouchers: readonly Voucher[]): string[] {
  if (vouchers.length === 0) return ["by nobody"];
  return vouchers.map((one) => {
    if (one.standing !== "trusted") return `key ${one.fingerprint ?? "unknown"}: ${one.why}`;
    const other = contradicts(manifest, one)
      ? `, but the manifest names ${manifest.publisher!.contact} as publisher`
      : "";
    return `${one.principals.join(", ")}${other}`;
  });
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

function tell(strangers: readonly Stranger[], context: Context, words: string): void {
  for (const { manifest, wants } of strangers) {
    const message = `${words}: ${oneLine(manifest.task?.title ?? manifest.id)} (${listed(wants.runs)})`;
    context.progress({ type: "consent", message });
  }
}

function needed(strangers: readonly Stranger[], question: string): NutError {
  const digests = strangers.map(({ digest }) => digest);
  const [first] = strangers;
  const { bundle_type: kind, task, id } = first!.manifest;
  const message = `this ${kind} was not made here and nobody agreed to run it: ${oneLine(task?.title ?? id)}`;
  return new NutError("CONSENT_NEEDED", message, {
    hint: `export NUTCRACKER_CONSENT=${digests.join(",")} (or --yes) runs it; nutshell inspect shows what it holds`,
    data: {
      strangers: strangers.map(({ digest, wants }) => ({ digest, ...wants })),
      question,
      agree: digests.join(","),
    },
  });
}
