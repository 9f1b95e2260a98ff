// One run of one check on one tree.
import { isIP } from "node:net";
import { unknownExpectations } from "../schema/criteria.js";
import type { Manifest } from "../schema/manifest.js";
import type { AcceptanceCredential, CredentialReader } from "./credential.js";
import { declaredUrls, runHttpCheck } from "./http-check.js";
import type { Check, CheckPlan, Outcome } from "./model.js";
import { skipped } from "./outcome.js";
import { runReaching, type Stage, unlessRefused } from "./run-program.js";
import { runSqlCheck } from "./sql-check.js";
import { servedUrls, waysTo } from "./ways-out.js";

export interface CheckSetting {
  readonly plan: CheckPlan;
  readonly manifest: Manifest;
  readonly credentials?: CredentialReader;
  /** Told before anything leaves this machine. */
  readonly onReach?: (url: string) => void;
  /** Origins the person named, which api_test may ask wherever they are. */
  readonly allowOrigins?: readonly string[];
  /** Headers and bodies of api_test go into the logs. */
  readonly keepBodies?: boolean;
}

export async function runCheck(check: Check, stage: Stage, setting: CheckSetting): Promise<Outcome> {
  const { plan, manifest, onReach, keepBodies } = setting;
  const [unknown] = unknownExpectations(check.expected);
  if (unknown !== undefined) return skipped(`it expects "${unknown}", which nobody compares`);
  const reference = credentialOf(check, setting);
  const credential = reference === undefined ? null : ((await setting.credentials?.(reference)) ?? null);
  // The broker is ours, and holds everybody to what the person named.
  const allowOrigins = [...(setting.allowOrigins ?? []), ...(credential?.through ?? [])];
  switch (check.kind) {
    case null:
      return skipped("its type is unknown and it has no script");
    case "api_test":
      return runHttpCheck(check, stage, {
        endpoints: plan.endpoints,
        manifest,
        credential,
        onReach,
        allowOrigins,
        keepBodies,
      });
    case "sql_check":
      return runSqlCheck(check, stage, { credential, allowOrigins });
    default:
      return withCredential(check, stage, reference, credential, { ...setting, allowOrigins });
  }
}

/** A script with a credential reaches what the request declares, and where the credential itself says it belongs. */
async function withCredential(
  check: Check,
  stage: Stage,
  reference: string | undefined,
  credential: AcceptanceCredential | null,
  setting: CheckSetting,
): Promise<Outcome> {
  if (reference === undefined) return (await runReaching(check, stage, { ways: [] })).outcome;
  if (credential === null) return skipped(`credential "${reference}" could not be opened`);
  const { plan, manifest, allowOrigins = [] } = setting;
  const { env, proxy, reaches = [], folders = [] } = credential;
  const urls = [...declaredUrls(plan.endpoints, manifest), ...urlsIn(credential), ...servedUrls(proxy), ...reaches];
  const ways = waysTo(urls, allowOrigins);
  const { outcome, refused } = await runReaching(check, stage, {
    env,
    ways,
    folders,
    ...(proxy === undefined ? {} : { proxy }),
  });
  return unlessRefused(outcome, refused);
}

/** Addresses a credential names: a URL wherever one stands, or a host with its port. */
export function urlsIn({ type, value }: Pick<AcceptanceCredential, "type"> & { readonly value: unknown }): string[] {
  if (typeof value === "string") return value.includes("://") ? [value] : [];
  if (value === null || typeof value !== "object") return [];
  const inner = Object.values(value).flatMap((item) => urlsIn({ type, value: item }));
  const { host, hostname = host, port } = value as Record<string, unknown>;
  if (typeof hostname !== "string") return inner;
  const name = isIP(hostname) === 6 ? `[${hostname}]` : hostname;
  // A port that is not told is the usual one of its kind.
  return [port === undefined ? `${type}://${name}` : `tcp://${name}:${port}`, ...inner];
}

/** The credential a check is handed, by name. */
export function credentialOf(check: Check, { plan, manifest }: CheckSetting): string | undefined {
  if (check.credential_ref !== undefined) return check.credential_ref;
  if (check.kind === "api_test") return plan.endpoints?.auth?.credential_ref;
  return onlyDatabase(check, manifest);
}

/** A query that names no database means the only one the request gives access to. */
function onlyDatabase({ kind, database }: Check, manifest: Manifest): string | undefined {
  if (kind !== "sql_check" || database !== undefined) return undefined;
  const databases = (manifest.credentials?.scopes ?? []).filter(({ type }) => /postgres|sqlite/.test(type));
  return databases.length === 1 ? databases[0]!.name : undefined;
}

/** Whether a run of it reaches beyond its room, so that a second one may not be the same. */
export function reachesOut(check: Check, setting: CheckSetting): boolean {
  if (credentialOf(check, setting) !== undefined) return true;
  if (check.kind !== "api_test" || check.start !== undefined) return false;
  return check.script === undefined || hasAddress(check, setting);
}

const hasAddress = (check: Check, { plan, manifest }: CheckSetting): boolean =>
  check.base_url !== undefined ||
  plan.endpoints?.base_url !== undefined ||
  Object.keys(manifest.apis?.base_urls ?? {}).length > 0;
