// The credentials a run may use: those the request scopes, opened once at the start if a key is there. Their values live
// in this process and in the environment of the agents it starts, nowhere else.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { NutError } from "../../errors.js";
import type { Manifest } from "../../schema/manifest.js";
import { handOut, openVault, readAgeIdentityFile, scrubber, variablesOf } from "../../vault/index.js";
import { NO_SECRETS, type RunSecrets } from "../run.js";

export interface OpenSecrets {
  readonly request: string;
  readonly manifest: Manifest;
  /** Files with age identities. */
  readonly identity: readonly string[];
  readonly now: Date;
}

export interface Opened {
  readonly secrets: RunSecrets;
  /** Why some or all credentials are missing; told to the person and recorded. */
  readonly warning: string | null;
}

export async function openSecrets({ request, manifest, identity, now }: OpenSecrets): Promise<Opened> {
  const { vault: path, encryption, scopes = [] } = manifest.credentials ?? {};
  if (path === undefined || scopes.length === 0) return { secrets: NO_SECRETS, warning: null };
  const file = join(request, path);
  if (path.split("/").includes("..") || !existsSync(file)) {
    return { secrets: NO_SECRETS, warning: "the request names a vault that is not in it" };
  }
  const identities = identity.flatMap((file) => readAgeIdentityFile(file));
  if (identities.length === 0 && encryption !== "none") {
    return { secrets: NO_SECRETS, warning: "the request has credentials, and no key opens them (--identity <file>)" };
  }
  const { vault } = await openVault(readFileSync(file), encryption, { identities });
  const wanted = scopes.map(({ name }) => name);
  const there = wanted.filter((name) => vault.credentials.some((credential) => credential.name === name));
  const given = handOutUsable(vault, scopes, there, now);
  const { text, bytes } = scrubber(given.secrets);
  const missing = wanted.filter((name) => !given.names.includes(name));
  return {
    warning: missing.length === 0 ? null : `credentials that cannot be used: ${missing.join(", ")}`,
    secrets: {
      names: given.names,
      env: given.env,
      scrub: text,
      leaks: (content) => !bytes(content).equals(content),
      read: async (name) => {
        const credential = given.names.includes(name)
          ? vault.credentials.find((entry) => entry.name === name)
          : undefined;
        if (credential === undefined) return null;
        return { type: credential.type, value: credential.value, env: variablesOf(credential) };
      },
    },
  };
}

type Vault = Parameters<typeof handOut>[0]["vault"];

/** One expired credential must not take the others with it. */
function handOutUsable(
  vault: Vault,
  scopes: Parameters<typeof handOut>[0]["scopes"],
  names: readonly string[],
  now: Date,
) {
  const env: Record<string, string> = {};
  const usable: string[] = [];
  const secrets: ReturnType<typeof handOut>["secrets"][number][] = [];
  for (const name of names) {
    try {
      const one = handOut({ vault, scopes, names: [name], purpose: "run", now });
      Object.assign(env, one.env);
      secrets.push(...one.secrets);
      usable.push(name);
    } catch (error) {
      if (!(error instanceof NutError)) throw error;
    }
  }
  return { env, names: usable, secrets };
}
