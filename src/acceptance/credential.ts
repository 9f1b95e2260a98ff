/** A credential the request scopes, opened by someone who holds the key. Its value travels in environments, never in arguments. */
export interface AcceptanceCredential {
  readonly type: string;
  readonly value: string | Readonly<Record<string, unknown>>;
  /** What a script sees of it. */
  readonly env: Readonly<Record<string, string>>;
}

/** null when there is no such credential, or no key to open it with. */
export type CredentialReader = (name: string) => Promise<AcceptanceCredential | null>;
