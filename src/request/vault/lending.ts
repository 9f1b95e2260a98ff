// Which of a request's credentials are used through a broker and which can only be handed out. Opened by name, lent once.
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import type { AcceptanceCredential } from "../../acceptance/index.js";
import {
  type Admission,
  type Broker,
  type BrokerInput,
  type BrokerUse,
  type Policy,
  type PolicyInput,
  policyOf,
  proxyVariables,
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
  /** For checks of the acceptance, not for agents or programs. */
  readonly checks?: boolean;
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
  readonly #more = new Map<string, Promise<void>>();
  readonly #toChecks = new Map<string, Promise<AcceptanceCredential>>();
  #sshKey: string | null = null;
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
    const facts = {
      credential: { name, type, value, scopes: [...terms.scopes], restrictions: { ...terms.restrictions } },
      scope: manifest.credentials?.scopes?.find((scope) => scope.name === name),
      expiresAt: terms.expires_at,
      // Of the manifest only what says where.
      manifest: {
        ...(manifest.apis === undefined ? {} : { apis: manifest.apis }),
        ...(manifest.credentials === undefined ? {} : { credentials: manifest.credentials }),
      },
      endpoints,
    };
    const policy = policyOf(facts);
    const handedOut = handOut.includes(name) ? "the person said --hand-out" : (policy.why ?? this.#unlendable(policy));
    if (handedOut === null) await (await this.broker()).lend(facts);
    return { name, policy, handedOut, given };
  }

  /** An agent has one socket to ask for signatures. Each check has its own. */
  #unlendable({ name, service }: Policy): string | null {
    if (service?.kind !== "ssh" || this.#input.checks === true) return null;
    this.#sshKey ??= name;
    return this.#sshKey === name ? null : "only one SSH key is lent at a time";
  }

  /** How checks use what is lent: the gateway is an address they agreed to, and what they are told is no secret. */
  lendToChecks(opened: Opened): Promise<AcceptanceCredential> {
    const known = this.#toChecks.get(opened.name) ?? this.#admitChecks(opened);
    this.#toChecks.set(opened.name, known);
    return known;
  }

  async #admitChecks({ name, given, policy }: Opened): Promise<AcceptanceCredential> {
    const who = { by: "acceptance", role: null, names: [name], proxy: "only" as const };
    const { env, values, through, proxy, folders = [] } = await (await this.broker()).admit(who);
    const own = { type: given.credential.type, value: values[name]!, env: inRooms(env), through, folders };
    return { ...own, ...(proxy === undefined ? {} : { proxy }), reaches: sshAddresses(policy) };
  }

  /** Something that is not the request's; lent once. */
  async lendOnce(facts: PolicyInput): Promise<void> {
    const { name } = facts.credential;
    const known = this.#more.get(name) ?? this.broker().then((broker) => broker.lend(facts));
    this.#more.set(name, known);
    await known;
  }

  broker(): Promise<Broker> {
    const { open = openHere, broker } = this.#input;
    this.#broker ??= open(broker);
    return this.#broker;
  }

  async close(): Promise<void> {
    await (await this.#broker)?.close();
  }
}

/** In this process. Most requests lend nothing, so it is loaded for those that do. */
const openHere: NonNullable<LendingInput["open"]> = async (input) =>
  (await import("../../broker/index.js")).openBroker(input);

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
const LENT_USES_PATH = "delivery/logs/credential-uses.jsonl";

export function appendUses(dir: string, uses: readonly BrokerUse[]): void {
  if (uses.length === 0) return;
  appendInside(realpathSync(dir), LENT_USES_PATH, uses.map((use) => `${JSON.stringify(use)}\n`).join(""));
}

/** `example.org`, `[example.org]:2222`. */
const sshAddresses = ({ service }: Policy): string[] =>
  service?.kind === "ssh" ? service.hosts.map((host) => `ssh://${host.replace(/^\[([^\]:]+)\]:/, "$1:")}`) : [];

/** A room's own setting of git's, which what is lent would take the place of. */
function inRooms(env: Readonly<Record<string, string>>): Record<string, string> {
  const count = Number(env.GIT_CONFIG_COUNT ?? 0);
  if (count === 0) return { ...env };
  const more = { [`GIT_CONFIG_KEY_${count}`]: "safe.directory", [`GIT_CONFIG_VALUE_${count}`]: "*" };
  return { ...env, ...more, GIT_CONFIG_COUNT: String(count + 1) };
}

/** Variables and files that lead a program's https through the proxy, for as long as it runs. */
export interface Trust {
  readonly env: Readonly<Record<string, string>>;
  /** Must be readable for the program. */
  readonly folder: string;
  remove(): void;
}

/** Whom the person trusts, the program trusts too: it reaches other hosts as before. */
export function trustProxy({ url, certificate }: NonNullable<Admission["proxy"]>, env: Context["env"]): Trust {
  const folder = mkdtempSync(join(tmpdir(), "nut-broker-"));
  const [authority, roots] = [join(folder, "authority.pem"), join(folder, "roots.pem")];
  const extra = textOf(env.NODE_EXTRA_CA_CERTS);
  writeFileSync(authority, [extra, certificate].join("\n"));
  writeFileSync(roots, [usualRoots(env), extra, certificate].join("\n"));
  return {
    env: proxyVariables({ url, authority, roots }),
    folder,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Where Debian, Fedora, Alpine and macOS keep them. */
const SYSTEM_ROOTS = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

const usualRoots = (env: Context["env"]): string =>
  [env.SSL_CERT_FILE, ...SYSTEM_ROOTS].map(textOf).find((text) => text !== "") ?? rootCertificates.join("\n");

function textOf(path: string | undefined): string {
  try {
    return path === undefined || path === "" ? "" : readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
