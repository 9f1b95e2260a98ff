// The credentials a run may use: those the request scopes, opened once at the start if a key is there. Their values live
// in this process and in the environment of the agents it starts, nowhere else.
import type { AcceptanceCredential } from "../../acceptance/index.js";
import { NutError } from "../../errors.js";
import type { Context } from "../../operation.js";
import { RequestCredentials } from "../../request/vault/credentials.js";
import type { Manifest } from "../../schema/manifest.js";
import { expiryState } from "../../vault/index.js";

/** Values only in environments, and a way to take them out of any text. A run may outlast a credential. */
export interface RunSecrets {
  /** Those that have not expired by now. */
  readonly names: readonly string[];
  /** Their variables. */
  readonly env: Readonly<Record<string, string>>;
  readonly scrub: (text: string) => string;
  /** Whether bytes hold one of the values. */
  readonly leaks: (bytes: Uint8Array) => boolean;
  readonly read: (name: string) => Promise<AcceptanceCredential | null>;
}

export interface SecretsInput {
  /** Folder of the request. */
  readonly request: string;
  readonly manifest: Manifest;
  readonly identity: readonly string[];
  readonly context: Context;
}

export interface OpenedSecrets {
  readonly secrets: RunSecrets;
  /** Why credentials are missing, one sentence each; told to the person and recorded. */
  readonly warnings: readonly string[];
}

/** A key that was named and does not fit is an error; without one the agents go without, and a warning says so. */
export async function openSecrets({ request, manifest, identity, context }: SecretsInput): Promise<OpenedSecrets> {
  const credentials = new RequestCredentials({ request, identity, context, onlyNamed: true });
  const usable = new Map<string, AcceptanceCredential & { readonly expiresAt: string | null }>();
  const env: Record<string, string> = {};
  const warnings: string[] = [];
  for (const { name } of manifest.credentials?.scopes ?? []) {
    try {
      const { credential, terms } = await credentials.handOut(name, "run");
      const taken = Object.keys(credential.env).find((variable) => Object.hasOwn(env, variable));
      if (taken !== undefined) warnings.push(`credential "${name}" is not used: ${taken} is set by another`);
      else {
        usable.set(name, { ...credential, expiresAt: terms[0]?.expires_at ?? null });
        Object.assign(env, credential.env);
      }
    } catch (error) {
      if (!(error instanceof NutError) || (identity.length > 0 && isClosed(error))) throw error;
      if (isClosed(error)) {
        warnings.push(`agents go without the request's credentials: ${error.message}`);
        break;
      }
      warnings.push(`credential "${name}" is not used: ${error.message}`);
    }
  }
  const lasting = () =>
    [...usable].filter(([, { expiresAt }]) => {
      const state = expiryState(expiresAt, context.now());
      return state !== "expired" && state !== "unreadable";
    });
  return {
    warnings,
    secrets: {
      get names() {
        return lasting().map(([name]) => name);
      },
      get env() {
        return Object.assign({}, ...lasting().map(([, credential]) => credential.env));
      },
      scrub: (text) => credentials.scrub(text),
      leaks: (bytes) => credentials.leaks(bytes),
      read: async (name) => lasting().find(([known]) => known === name)?.[1] ?? null,
    },
  };
}

/** The vault as a whole stays closed; one expired or unsafe credential is another matter. */
const isClosed = ({ code }: NutError) => code.startsWith("VAULT_") || code.startsWith("IDENTITY_");
