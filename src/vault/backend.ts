// The one interface of a vault's encryption. A new backend is one file and one row in vault.ts.

export const BACKENDS = ["age", "sops", "vault", "none"] as const;
export type BackendName = (typeof BACKENDS)[number];

/** HashiCorp Vault, as the user's own environment names it. Never taken from a bundle: it would send the token anywhere. */
export interface TransitSettings {
  readonly address: string;
  readonly token: string;
  readonly namespace?: string;
  /** PEM of an authority of their own. */
  readonly ca?: string;
}

/** Starts a program with text on its standard input; never with a secret among its arguments. */
export type RunProgram = (
  program: string,
  args: readonly string[],
  input: Uint8Array,
) => Promise<{ readonly status: number; readonly stdout: Uint8Array; readonly stderr: string } | null>;

/** Whatever is at hand to open a vault; each backend takes what it knows. */
export interface Keys {
  /** AGE-SECRET-KEY-1… */
  readonly identities: readonly string[];
  /** Called only when a passphrase is what opens it; null when nobody can be asked. */
  readonly passphrase?: () => Promise<string | null>;
  readonly transit?: TransitSettings | null;
  readonly run?: RunProgram;
  readonly signal?: AbortSignal;
}

/** Who can open the vault afterwards. */
export interface Target {
  readonly recipients?: readonly string[];
  readonly passphrase?: string;
  /** The vault opens with a passphrase, and is to be closed with the same one. */
  readonly byPassphrase?: boolean;
  readonly armored?: boolean;
  /** Name of the transit key, and where the engine is mounted. */
  readonly transitKey?: string;
  readonly transitMount?: string;
}

export interface Backend {
  readonly name: BackendName;
  /** Whether these bytes are what this backend writes. */
  recognises(bytes: Uint8Array): boolean;
  open(bytes: Uint8Array, keys: Keys): Promise<Uint8Array>;
  seal(plain: Uint8Array, target: Target, keys: Keys): Promise<Uint8Array>;
  /** What a vault says about its own target, so that saving it again needs no flags. */
  targetOf(bytes: Uint8Array): Promise<Target>;
}
