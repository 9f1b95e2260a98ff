import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag, flagWords } from "../../../cli/fields.js";
import { count } from "../../../cli/text.js";
import { NutError, shellWord } from "../../../errors.js";
import type { Context } from "../../../operation.js";
import { folderTarget } from "../../../request/open/target.js";
import {
  collectKeys,
  defaultIdentityPath,
  findPeerIdentity,
  hasHome,
  ownRecipients,
} from "../../../request/vault/keys.js";
import { withPublicKey } from "../../../request/vault/rotation.js";
import { readValue } from "../../../request/vault/value-source.js";
import {
  backendOf,
  dirWords,
  readVaultFolder,
  saveVault,
  unlock,
  type VaultFolder,
} from "../../../request/vault/vault-folder.js";
import type { Manifest } from "../../../schema/manifest.js";
import { CREDENTIAL_NAME, type Credential, type Vault } from "../../../schema/vault.js";
import {
  type BackendName,
  checkRecipient,
  generateAgeIdentity,
  type Keys,
  newVault,
  parseExpiry,
  type Target,
  variablesOf,
  writeAgeIdentityFile,
} from "../../../vault/index.js";
import { DIR } from "../flags.js";
import { aboutFolder } from "./about-folder.js";
import { ENCRYPTION, IDENTITY, VALUE } from "./credentials-flags.js";

const AddInput = z.object({
  name: flag(z.string().regex(CREDENTIAL_NAME, "must be letters, digits, dots, dashes, underscores"), {
    short: "n",
    value: "<name>",
    about: "what the task calls it",
  }),
  type: flag(z.string().min(1).max(64), {
    short: "t",
    value: "<type>",
    about: "postgresql, bearer_token, ssh_key…",
  }),
  scopes: flag(z.array(z.string().min(1)).default([]), {
    name: "scope",
    value: "<word>",
    about: "what it may do: read, write, invoke",
  }),
  restrict: flag(z.array(z.string()).default([]), {
    value: "<key=value>",
    about: "a limit: tables=users,sessions",
  }),
  expires: flag(z.string().optional(), { value: "<time>", about: "7d, 12h, a date or a time (default: never)" }),
  access: flag(z.string().optional(), {
    value: "<level>",
    about: "access level shown in the manifest: read-write",
  }),
  rateLimit: flag(z.string().optional(), { value: "<limit>", about: "such as 100/min" }),
  recipients: flag(z.array(z.string()).default([]), {
    name: "recipient",
    short: "r",
    value: "<age1…>",
    about: "who may open the vault",
  }),
  replace: flag(z.boolean().default(false), { about: "replace a credential of the same name" }),
  ...VALUE,
  ...ENCRYPTION,
  ...IDENTITY,
  ...DIR,
});
type AddInput = z.output<typeof AddInput>;

const addCredential = command({
  name: "add-credential",
  summary: "put a secret into the vault",
  input: AddInput,
  output: z.object({
    name: z.string(),
    type: z.string(),
    vault: z.string(),
    encryption: z.string(),
    expires_at: z.string().nullable(),
    recipients: z.array(z.string()),
    variables: z.array(z.string()).describe("what `nutshell exec --with` sets"),
    dir: z.string().optional().describe("the folder as it was named; absent for the current one"),
    identity: z.string().optional().describe("identity file that was made on the way"),
    public_key: z.string().optional().describe("the publisher's key, as the manifest records it"),
  }),
  about: [
    "The value is a text or a JSON object. It comes from a prompt that does not show it, a file, standard input or an environment variable; never from the command line, where every process could read it.",
  ],
  examples: [
    ["nutshell add-credential --name staging-db --type postgresql --expires 7d", "asks for the value"],
    ["pass show db | nutshell add-credential --name db --type password --value-stdin", "takes it from a pipe"],
  ],
  async run(input, context) {
    const folder = readVaultFolder(folderTarget(input.dir, context).path, context.env);
    const keys = collectKeys(input.identity, context);
    const expires = input.expires === undefined ? null : parseExpiry(input.expires, context.now());
    const credential = { restrictions: parseRestrictions(input.restrict, input.rateLimit) };
    const opened = await openOrCreate(folder, input, keys, context);
    const exists = opened.vault.credentials.some(({ name }) => name === input.name);
    if (exists && !input.replace) {
      throw new NutError("CREDENTIAL_EXISTS", `the vault has a credential "${input.name}" already`, {
        hint: `nutshell rotate ${shellWord(input.name)}${dirWords(input.dir)} --value-stdin`,
      });
    }
    const value = await readValue(input, context, addCommand(input));
    const added: Credential = {
      name: input.name,
      type: input.type,
      value,
      ...(input.scopes.length > 0 ? { scopes: input.scopes } : {}),
      ...(Object.keys(credential.restrictions).length > 0 ? credential : {}),
      ...(expires === null ? {} : { expires_at: expires }),
    };
    const variables = Object.keys(variablesOf(added));
    const others = opened.vault.credentials.filter(({ name }) => name !== input.name);
    const vault: Vault = { ...opened.vault, credentials: [...others, added] };
    const made = opened.identity === undefined ? undefined : opened.identity();
    const publisher = findPeerIdentity(undefined, context);
    const publicKey = publisher === null ? undefined : Buffer.from(publisher.publicKey).toString("hex");
    await saveVault(folder, {
      ...opened,
      vault,
      keys,
      manifest: (manifest) => withPublicKey(withAccess(manifest, input.name, input.access), publicKey),
    });
    const recipients = [...(opened.target.recipients ?? [])];
    const dir = dirWords(input.dir);
    await warn({ ...opened, recipients, expires, name: input.name, dir }, keys, context);
    return {
      name: input.name,
      type: input.type,
      vault: folder.path,
      encryption: opened.backend,
      expires_at: expires,
      recipients,
      variables,
      ...(dir === "" ? {} : { dir: input.dir }),
      ...(made === undefined ? {} : { identity: made }),
      ...(folder.manifest.publisher?.public_key === undefined && publicKey !== undefined
        ? { public_key: publicKey }
        : {}),
    };
  },
  text: (added) => [
    `Added: ${added.name} (${added.type}) to ${added.vault}, ${added.encryption}`,
    `Expires: ${added.expires_at ?? "never"}`,
    ...(added.recipients.length === 0
      ? []
      : [`For: ${count(added.recipients.length, "recipient")}`, ...added.recipients.map((one) => `  ${one}`)]),
    ...(added.identity === undefined ? [] : [`Identity made: ${added.identity}`]),
    `Use: nutshell exec --with ${added.name}${dirWords(added.dir)} -- sh -c '<command>'  (${added.variables.map((name) => `$${name}`).join(" ")})`,
  ],
});
export default aboutFolder(addCredential);

interface Opened {
  readonly vault: Vault;
  readonly backend: BackendName;
  readonly target: Target;
  /** Writes the identity that was agreed on; called when nothing can fail for want of input any more. */
  readonly identity?: () => string;
}

async function openOrCreate(folder: VaultFolder, input: AddInput, keys: Keys, context: Context): Promise<Opened> {
  const recipients = await Promise.all(input.recipients.map(checkRecipient));
  const existing = backendOf(folder);
  if (existing !== null) {
    if (input.encryption !== undefined && input.encryption !== existing) {
      throw new NutError("VAULT_BACKEND", `the vault is encrypted by ${existing}`, {
        hint: `nutshell rotate --encryption ${input.encryption}${dirWords(input.dir)}`,
      });
    }
    const opened = await unlock(folder, keys);
    const all = [...new Set([...(opened.target.recipients ?? []), ...recipients])];
    return { ...opened, target: { ...opened.target, recipients: all } };
  }
  const vault = newVault(context.now());
  const backend = input.encryption ?? "age";
  if (backend === "none") return { vault, backend, target: {} };
  if (backend === "vault") {
    return { vault, backend, target: input.transitKey === undefined ? {} : { transitKey: input.transitKey } };
  }
  if (recipients.length > 0) return { vault, backend, target: { recipients } };
  const own = await ownRecipients(keys);
  if (own.length > 0) return { vault, backend, target: { recipients: own } };
  return { vault, backend, ...(await agreeOnKey(input, context)) };
}

/** No vault, no recipient, no identity: offer to make one, or take a passphrase; without a terminal say what to run. */
async function agreeOnKey(input: AddInput, context: Context): Promise<Pick<Opened, "target" | "identity">> {
  if ((context.env.NUTSHELL_PASSPHRASE ?? "") !== "")
    return { target: { passphrase: context.env.NUTSHELL_PASSPHRASE! } };
  if (context.ask === null) {
    throw new NutError("IDENTITY_MISSING", "there is nobody to encrypt for: no vault, no --recipient and no identity", {
      hint: `nutshell keygen && nutshell add-credential${flagWords(AddInput, input)}`,
    });
  }
  const path = hasHome(context.env) ? defaultIdentityPath(context.env) : null;
  if (path !== null && (await context.ask.confirm(`Make an identity in ${path} to encrypt for?`, { initial: true }))) {
    const made = await generateAgeIdentity();
    return {
      target: { recipients: [made.recipient] },
      identity: () => {
        writeAgeIdentityFile(path, made, context.now());
        return path;
      },
    };
  }
  const passphrase = await context.ask.secret("Passphrase for the vault");
  if (passphrase === "")
    throw new NutError("IDENTITY_MISSING", "there is nobody to encrypt for", { hint: "nutshell keygen" });
  if ((await context.ask.secret("The same again")) !== passphrase) {
    throw new NutError("USAGE", "the two passphrases differ; nothing was changed", { hint: addCommand(input) });
  }
  return { target: { passphrase } };
}

/** What was typed, but for where the value comes from. */
const addCommand = (input: AddInput): string =>
  `nutshell add-credential${flagWords(AddInput, input, ["valueFile", "valueEnv", "valueStdin"])}`;

/** `tables=users,sessions` is a list, `max_rows=1000` a number; JSON is taken as it is. */
function parseRestrictions(pairs: readonly string[], rateLimit?: string): Record<string, unknown> {
  const restrictions: Record<string, unknown> = rateLimit === undefined ? {} : { rate_limit: rateLimit };
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    const key = pair.slice(0, at);
    if (at < 1 || key === "__proto__")
      throw new NutError("USAGE", `--restrict takes key=value, not "${pair.slice(0, 60)}"`, {
        hint: "--restrict allowed_paths=/v1/items",
      });
    restrictions[key] = restrictionValue(pair.slice(at + 1));
  }
  return restrictions;
}

function restrictionValue(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "string") return value;
  } catch {
    // Not JSON: plain words, or a list of them.
  }
  return text.includes(",") ? text.split(",").map((part) => part.trim()) : text;
}

function withAccess(manifest: Manifest, name: string, access: string | undefined): Manifest {
  if (access === undefined) return manifest;
  const scopes = (manifest.credentials?.scopes ?? []).map((scope) =>
    scope.name === name ? { ...scope, access_level: access } : scope,
  );
  return { ...manifest, credentials: { ...manifest.credentials, scopes } };
}

interface Concern {
  readonly name: string;
  readonly backend: BackendName;
  readonly recipients: readonly string[];
  readonly expires: string | null;
  readonly identity?: Opened["identity"];
  /** As flag and folder, for the commands that are named. */
  readonly dir: string;
}

async function warn(concern: Concern, keys: Keys, { progress }: Context): Promise<void> {
  const { name, backend, recipients, expires, dir } = concern;
  const say = (message: string) => progress({ type: "warning", message });
  if (backend === "none") say("the vault is not encrypted; pack refuses it");
  if (expires === null) say(`"${name}" never expires; set an end with: nutshell rotate ${name} --expires 30d${dir}`);
  // An identity that was made on the way opens it.
  const own = concern.identity === undefined ? await ownRecipients(keys) : recipients;
  if (backend === "age" && recipients.length > 0 && !recipients.some((one) => own.includes(one))) {
    say("none of your identities opens this vault; you will not be able to change it");
  }
}
