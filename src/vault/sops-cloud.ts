// sops files whose key is with a cloud service. The `sops` program asks the service, with the person's own login; what it
// is given is looked at first, since the file says where that login goes.
import type { Node } from "jsonc-parser";
import { NutError } from "../errors.js";
import type { Keys } from "./backend.js";
import { jsonShape } from "./json.js";

type Stanza = Readonly<Record<string, unknown>>;

interface Service {
  readonly field: string;
  readonly name: string;
  readonly login: string;
  /** Whether the key's address belongs to the service. */
  readonly isPlace: (stanza: Stanza, keys: Keys) => boolean;
}

const ARN = /^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:(?:key|alias)\/[\w/-]+$/;
const AZURE =
  /^https:\/\/[a-z0-9-]+\.(?:vault\.azure\.net|vault\.azure\.cn|vault\.usgovcloudapi\.net|managedhsm\.azure\.net)\/?$/i;
const GOOGLE =
  /^projects\/[\w.:-]+\/locations\/[\w-]+\/keyRings\/[\w-]+\/cryptoKeys\/[\w-]+(?:\/cryptoKeyVersions\/\d+)?$/;

const SERVICES: readonly Service[] = [
  { field: "kms", name: "AWS KMS", login: "aws sso login", isPlace: ({ arn }) => ARN.test(String(arn)) },
  {
    field: "gcp_kms",
    name: "Google Cloud KMS",
    login: "gcloud auth application-default login",
    isPlace: (stanza) => GOOGLE.test(String(stanza.resource_id)),
  },
  {
    field: "azure_kv",
    name: "Azure Key Vault",
    login: "az login",
    isPlace: (stanza) => AZURE.test(String(stanza.vault_url)),
  },
  {
    field: "hc_vault",
    name: "HashiCorp Vault",
    login: "export VAULT_ADDR=https://… and run: vault login",
    // As everywhere: a token goes to the server its owner named.
    isPlace: ({ vault_address: address }, { transit }) =>
      transit != null && originOf(transit.address) !== null && originOf(address) === originOf(transit.address),
  },
];

/** The program reads names whatever their case, so a name it could take for another one must not be there. */
const FIELDS: ReadonlySet<string> = new Set(
  `age arn aws_profile azure_kv context created_at enc encrypted_comment_regex encrypted_regex encrypted_suffix engine_path
  fp gcp_kms hc_vault key_groups key_name kms lastmodified mac mac_only_encrypted name pgp recipient resource_id role
  shamir_threshold unencrypted_comment_regex unencrypted_regex unencrypted_suffix vault_address vault_url version`.split(
    /\s+/,
  ),
);

/** Whether only a cloud service's key, and no age key, is among those the file names. */
export function isCloudOnly(metadata: object): boolean {
  const groups = groupsOf(metadata);
  return groups.every((group) => listed(group, "age").length === 0) && stanzasOf(groups).length > 0;
}

export async function openWithSops(bytes: Uint8Array, metadata: object, root: Node, keys: Keys): Promise<Uint8Array> {
  const stanzas = stanzasOf(groupsOf(metadata));
  const { service } = stanzas[0]!;
  if (keys.run === undefined) {
    throw closed(`its key is with ${service.name}, and a login there is not used unasked`, MOVE);
  }
  assertPlain(root);
  const strange = stanzas.find((one) => !one.service.isPlace(one.stanza, keys));
  if (strange !== undefined) {
    throw closed(
      strange.service.field === "hc_vault"
        ? "its key is with a HashiCorp Vault server other than the one of VAULT_ADDR"
        : `its key is with ${strange.service.name}, at an address that is not that service's`,
      strange.service.field === "hc_vault" ? strange.service.login : "ask the publisher for a vault with an age key",
    );
  }
  const args = ["--decrypt", "--input-type", "json", "--output-type", "json", "/dev/stdin"];
  const result = await keys.run("sops", args, bytes);
  if (result === null) {
    throw closed(
      `its key is with ${service.name}, and the sops program, which asks for it, is not installed`,
      "put sops on PATH and look: sops --version; or ask the publisher for a vault with an age key",
    );
  }
  if (result.status !== 0 || jsonShape(result.stdout) === null) {
    throw closed(`its key is with ${service.name}, and sops did not open it (exit ${result.status})`, service.login);
  }
  return result.stdout;
}

const MOVE = "nutshell rotate --encryption age --recipient '<age1…>'";

function closed(why: string, hint: string): NutError {
  return new NutError("VAULT_NO_MATCHING_KEY", `the vault stays closed: ${why}`, { hint });
}

function groupsOf(metadata: object): object[] {
  return [metadata, ...listed(metadata, "key_groups")];
}

function stanzasOf(groups: readonly object[]): { readonly service: Service; readonly stanza: Stanza }[] {
  return groups.flatMap((group) =>
    SERVICES.flatMap((service) =>
      listed(group, service.field).map((stanza) => ({ service, stanza: stanza as Stanza })),
    ),
  );
}

function listed(group: object, field: string): object[] {
  const value = (group as Record<string, unknown>)[field];
  return Array.isArray(value) ? value.filter((item) => typeof item === "object" && item !== null) : [];
}

/** One `sops`, and in it only names that are known, each once. */
function assertPlain(root: Node): void {
  const heads = (root.children ?? []).filter(({ children }) => isSops(String(children?.[0]?.value)));
  if (heads.length !== 1 || heads[0]!.children?.[0]?.value !== "sops") throw unclear("sops");
  const visit = (node: Node): void => {
    if (node.type !== "object") {
      for (const child of node.children ?? []) visit(child);
      return;
    }
    const seen = new Set<string>();
    for (const { children } of node.children ?? []) {
      const name = String(children?.[0]?.value);
      if (!FIELDS.has(name) || seen.has(name)) throw unclear(name);
      seen.add(name);
      // Free words that the service compares.
      if (name !== "context" && children?.[1] !== undefined) visit(children[1]);
    }
  };
  visit(heads[0]!.children![1]!);
}

/** Compatibility forms, such as the long s, are letters to the program. */
const isSops = (name: string): boolean => name.normalize("NFKC").toLowerCase() === "sops";

function unclear(field: string): NutError {
  return new NutError("VAULT_BACKEND", `the sops vault says its keys in a way that is not known: ${field}`, {
    hint: "ask the publisher for a vault with an age key",
    data: { field },
  });
}

/** null for what is no address, and for one that a token would reach in clear. */
function originOf(address: unknown): string | null {
  if (!URL.canParse(String(address))) return null;
  const { origin, protocol, hostname } = new URL(String(address));
  return protocol === "https:" || ["localhost", "127.0.0.1", "[::1]"].includes(hostname) ? origin : null;
}
