import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { fromSystemError, NutError } from "../../../errors.js";
import { operation } from "../../../operation.js";
import { collectKeys, keyInput } from "../../../request/keys.js";
import { noVault, readVaultFolder, unlock } from "../../../request/vault-folder.js";
import {
  assertUsable,
  findCredential,
  openVaultBytes,
  readVault,
  recordUses,
  wholeSeconds,
} from "../../../vault/index.js";

export const reveal = operation({
  name: "credential_reveal",
  summary: "print the value of one credential; use exec where a program needs it",
  input: z.object({
    dir: z.string().default("."),
    name: z.string().optional(),
    field: z.string().optional().describe("one field of a value that is an object"),
    all: z.boolean().default(false).describe("the whole vault as it is inside, byte for byte"),
    file: z.string().optional().describe("with all: this encrypted file instead of a folder's vault"),
    purpose: z.string().default("reveal"),
    ...keyInput,
  }),
  output: z.object({ name: z.string().nullable(), value: z.custom<Uint8Array>() }),
  async run(input, context) {
    const keys = collectKeys(input.identity, context);
    if (input.all) {
      if (input.name !== undefined)
        throw new NutError("USAGE", "--all takes no name", {
          hint: "nutshell reveal --all, or nutshell reveal <name>",
        });
      if (input.file !== undefined) {
        return {
          name: null,
          value: await openVaultBytes(readBytes(resolve(context.cwd, input.file)), undefined, keys),
        };
      }
      const folder = readVaultFolder(resolve(context.cwd, input.dir), context.env);
      if (folder.bytes === null) throw noVault(folder);
      const value = await openVaultBytes(folder.bytes, folder.manifest.credentials?.encryption, keys);
      const at = wholeSeconds(context.now());
      recordUses(
        folder.dir,
        readVault(value).credentials.map(({ name }) => ({ name, at, purpose: input.purpose })),
      );
      return { name: null, value };
    }
    if (input.name === undefined)
      throw new NutError("USAGE", "nutshell reveal needs <name>", { hint: "nutshell credentials" });
    const folder = readVaultFolder(resolve(context.cwd, input.dir), context.env);
    const { vault } = await unlock(folder, keys);
    const credential = findCredential(vault, input.name);
    assertUsable(vault, credential, folder.manifest.credentials?.scopes ?? [], context.now());
    const value = pick(credential.value, input.field);
    recordUses(folder.dir, [{ name: input.name, at: wholeSeconds(context.now()), purpose: input.purpose }]);
    return { name: input.name, value: Buffer.from(value, "utf8") };
  },
});

function pick(value: string | Record<string, unknown>, field: string | undefined): string {
  if (field === undefined) return typeof value === "string" ? value : JSON.stringify(value, null, 2);
  if (typeof value === "string" || !Object.hasOwn(value, field)) {
    const fields = typeof value === "string" ? "its value is plain text" : `it has ${Object.keys(value).join(", ")}`;
    throw new NutError("CREDENTIAL_NOT_FOUND", `the credential has no field "${field}"; ${fields}`, {
      hint: "nutshell reveal <name> without --field prints all of it",
    });
  }
  const item = value[field];
  return typeof item === "string" ? item : JSON.stringify(item);
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
}
