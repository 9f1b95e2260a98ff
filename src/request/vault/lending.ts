// Which of a request's credentials are used through a broker and which can only be handed out. Opened by name, lent once.
import { realpathSync } from "node:fs";
import type { AcceptanceCredential } from "../../acceptance/index.js";
import {
  type Broker,
  type BrokerInput,
  type BrokerUse,
  openBroker,
  type Policy,
  policyOf,
} from "../../broker/index.js";
import { appendInside } from "../../files/index.js";
import type { Context } from "../../operation.js";
import type { Endpoints } from "../../schema/endpoints.js";
import type { Manifest } from "../../schema/manifest.js";
import type { HandOut } from "../../vault/index.js";
import type { RequestCredentials } from "./credentials.js";

export interface LendingInput {
  readonly credentials: RequestCredentials;
  readonly manifest: Manifest;
  readonly endpoints: Endpoints | null;
  /** Names the person wants handed out although a broker could serve them. */
  readonly handOut: readonly string[];
  /** How a broker is started; in this process by default. */
  readonly open?: (input: BrokerInput) => Promise<Broker>;
  readonly broker: BrokerInput;
}

/** One credential, opened: its policy, and whether its value leaves our hands. */
export interface Opened {
  readonly name: string;
  readonly policy: Policy;
  /** Why its value is handed out; null when it is lent. */
  readonly handedOut: string | null;
  readonly given: HandOut & { readonly credential: AcceptanceCredential };
}

export class Lending {
  readonly #input: LendingInput;
  readonly #opened = new Map<string, Promise<Opened>>();
  #broker: Promise<Broker> | null = null;

  constructor(input: LendingInput) {
    this.#input = input;
  }

  /** Throws what keeps the vault closed, or the credential from being used. */
  open(name: string, purpose: string): Promise<Opened> {
    const known = this.#opened.get(name) ?? this.#open(name, purpose);
    this.#opened.set(name, known);
    return known;
  }

  async #open(name: string, purpose: string): Promise<Opened> {
    const { credentials, manifest, endpoints, handOut } = this.#input;
    const given = await credentials.handOut(name, purpose);
    const terms = given.terms[0]!;
    const { type, value } = given.credential;
    const policy = policyOf({
      credential: { name, type, value, scopes: [...terms.scopes], restrictions: { ...terms.restrictions } },
      scope: manifest.credentials?.scopes?.find((scope) => scope.name === name),
      expiresAt: terms.expires_at,
      manifest,
      endpoints,
    });
    const handedOut = handOut.includes(name) ? "the person said --hand-out" : policy.why;
    if (handedOut === null) await (await this.broker()).lend({ credential: { name, value }, policy });
    return { name, policy, handedOut, given };
  }

  broker(): Promise<Broker> {
    const { open = openBroker, broker } = this.#input;
    this.#broker ??= open(broker);
    return this.#broker;
  }

  /** Whether anything is lent. */
  get isOpen(): boolean {
    return this.#broker !== null;
  }

  async close(): Promise<void> {
    await (await this.#broker)?.close();
  }
}

/** A use that was refused is told to the person at once. */
export function tellUse({ name, what, allowed, why }: BrokerUse, context: Pick<Context, "progress">): void {
  if (!allowed) {
    context.progress({
      type: "credential_refused",
      name,
      what,
      message: `credential "${name}": ${what} refused: ${why}`,
    });
  }
}

/** Every use of what was lent, beside the record of what was handed out. */
export const LENT_USES_PATH = "delivery/logs/credential-uses.jsonl";

export function appendUses(dir: string, uses: readonly BrokerUse[]): void {
  if (uses.length === 0) return;
  appendInside(realpathSync(dir), LENT_USES_PATH, uses.map((use) => `${JSON.stringify(use)}\n`).join(""));
}

/** How a check uses what is lent: the gateway is an address it agreed to, and what it is told is no secret. */
export async function lentToChecks(lending: Lending, { name, given }: Opened): Promise<AcceptanceCredential> {
  const broker = await lending.broker();
  const { env, values, through } = await broker.admit({ by: "acceptance", role: null, names: [name] });
  return { type: given.credential.type, value: values[name]!, env, through };
}
