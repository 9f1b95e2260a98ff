/** A credential the request scopes, opened by someone who holds the key. Its value travels in environments, never in arguments. */
export interface AcceptanceCredential {
  readonly type: string;
  readonly value: string | Readonly<Record<string, unknown>>;
  /** What a script sees of it. */
  readonly env: Readonly<Record<string, string>>;
  /** Set when it is used through a broker: addresses of ours that lead there. `value` and `env` then hold no secret. */
  readonly through?: readonly string[];
  /** With it: how the service's own addresses lead to the broker too, and whom a program must trust for that. */
  readonly proxy?: { readonly url: string; readonly certificate: string; readonly serves: readonly string[] };
  /** With it: hosts it is for that no broker stands before, as addresses. */
  readonly reaches?: readonly string[];
  /** With it: folders a script must be able to read. */
  readonly folders?: readonly string[];
}

/** Where a check asks instead of the service, when the credential is used through a broker. */
export function gatewayOf(credential: AcceptanceCredential | null): string | null {
  if (credential?.through === undefined || typeof credential.value === "string") return null;
  const { url } = credential.value;
  return typeof url === "string" && url.startsWith("http://") ? url : null;
}

/** null when there is no such credential, or no key to open it with. */
export type CredentialReader = (name: string) => Promise<AcceptanceCredential | null>;
