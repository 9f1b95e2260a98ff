// Credentials of a request, for whoever may use them: opened in one way, handed out by name, taken out of every text.
import { type AcceptanceCredential, type CredentialReader, planChecks } from "../../acceptance/index.js";
import { readManifest } from "../../bundle/index.js";
import { NutError } from "../../errors.js";
import type { Context } from "../../operation.js";
import { type HandOut, handOut, recordUses, type Scrubber, scrubber } from "../../vault/index.js";
import { collectKeys } from "./keys.js";
import { Lending, tellUse } from "./lending.js";
import { assertBound } from "./vault-binding.js";
import { readVaultFolder, unlock } from "./vault-folder.js";

export interface CredentialsInput {
  /** Folder of the request. */
  readonly request: string;
  /** Identity files that were named. */
  readonly identity: readonly string[];
  /** Key files and cloud logins that nobody named stay out of it, such as the file keygen made. */
  readonly onlyNamed?: boolean;
  /** The person uses their own folder: the vault need not be bound to its checks. */
  readonly isOwn?: boolean;
  readonly context: Context;
}

/** The vault of a request, opened when the first credential is asked for. */
export class RequestCredentials {
  readonly #input: CredentialsInput;
  readonly #handedOut: HandOut["secrets"][number][] = [];
  #opened: Promise<Opened> | undefined;
  #scrubber: Scrubber = scrubber([]);

  constructor(input: CredentialsInput) {
    this.#input = input;
  }

  /** Throws what keeps the vault closed, or the credential from being used. */
  async handOut(name: string, purpose: string): Promise<HandOut & { readonly credential: AcceptanceCredential }> {
    this.#opened ??= open(this.#input);
    const { vault, scopes } = await this.#opened;
    const given = handOut({ vault, scopes, names: [name], purpose, now: this.#input.context.now() });
    this.#handedOut.push(...given.secrets);
    this.#scrubber = scrubber(this.#handedOut);
    const { type, value } = vault.credentials.find((row) => row.name === name)!;
    return { ...given, credential: { type, value, env: given.env } };
  }

  /** Takes out every secret that was handed out. */
  scrub(text: string): string {
    return this.#handedOut.length === 0 ? text : this.#scrubber.text(text);
  }

  /** Whether bytes hold a secret that was handed out. */
  leaks(bytes: Uint8Array): boolean {
    return this.#handedOut.length > 0 && !this.#scrubber.bytes(bytes).equals(bytes);
  }
}

type Opened = Required<Pick<Parameters<typeof handOut>[0], "vault" | "scopes">>;

async function open({
  request,
  context,
  identity,
  onlyNamed = false,
  isOwn = false,
}: CredentialsInput): Promise<Opened> {
  const folder = readVaultFolder(request, context.env);
  const { vault } = await unlock(folder, collectKeys(identity, context, { onlyNamed }));
  const warning = isOwn ? null : assertBound(vault, folder.dir, folder.manifest);
  if (warning !== null) context.progress({ type: "warning", message: warning });
  return { vault, scopes: folder.manifest.credentials?.scopes ?? [] };
}

export interface AcceptanceCredentials {
  readonly read: CredentialReader;
  readonly scrub: (text: string) => string;
  /** Names of what was used so far. */
  readonly used: () => string[];
  close(): Promise<void>;
}

/** For checks that name one. A credential nobody here can open is not an error: its check is skipped by name. */
export function acceptanceCredentials(
  request: string,
  identity: readonly string[],
  context: Context,
  {
    usesFolder = null,
    allowOrigins = [],
    handOut: handedOut = [],
  }: {
    /** The person's own folder, where uses are kept until a delivery is packed of it; null when only a copy was opened. */
    readonly usesFolder?: string | null;
    readonly allowOrigins?: readonly string[];
    /** Names whose values checks get, although a broker could serve them. */
    readonly handOut?: readonly string[];
  } = {},
): AcceptanceCredentials {
  const credentials = new RequestCredentials({ request, identity, context });
  const manifest = readManifest(request);
  const lending = new Lending({
    credentials,
    manifest,
    endpoints: planChecks(request, manifest).endpoints,
    handOut: handedOut,
    checks: true,
    broker: { allowOrigins, onUse: (use) => tellUse(use, context) },
  });
  const used = new Set<string>();
  return {
    close: () => lending.close(),
    used: () => [...used].sort(),
    scrub: (text) => credentials.scrub(text),
    read: async (name) => {
      try {
        const opened = await lending.open(name, "acceptance");
        const { credential, uses } = opened.given;
        used.add(name);
        context.progress({ type: "credential_used", name, message: `credential "${name}" is used by the acceptance` });
        if (usesFolder !== null) recordUses(usesFolder, uses);
        return opened.handedOut === null ? await lending.lendToChecks(opened) : credential;
      } catch (error) {
        if (!(error instanceof NutError)) throw error;
        context.progress({ type: "warning", message: `credential "${name}": ${error.message}` });
        return null;
      }
    },
  };
}
