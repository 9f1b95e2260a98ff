import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { rawCommand } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { contextOf } from "../../../cli/io.js";
import { progressLine } from "../../../cli/progress.js";
import { jsonText, printable } from "../../../cli/text.js";
import { fromSystemError, NutError, shellWord } from "../../../errors.js";
import type { Context } from "../../../operation.js";
import { folderTarget } from "../../../request/open/target.js";
import { collectKeys } from "../../../request/vault/keys.js";
import { dirWords, noVault, readVaultFolder, unlock } from "../../../request/vault/vault-folder.js";
import {
  assertUsable,
  findCredential,
  type Keys,
  openVaultBytes,
  readVault,
  recordUses,
  wholeSeconds,
} from "../../../vault/index.js";
import { DIR } from "../flags.js";
import { aboutFolder } from "./about-folder.js";
import { IDENTITY } from "./credentials-flags.js";

const RevealInput = z.object({
  name: positional(z.string().optional(), { about: "the credential" }),
  field: flag(z.string().optional(), {
    short: "f",
    value: "<field>",
    about: "one field of a value that is an object",
  }),
  show: flag(z.boolean().default(false), { about: "print it on a terminal; without this only a pipe gets it" }),
  all: flag(z.boolean().default(false), { about: "the whole vault as it is inside, byte for byte" }),
  file: flag(z.string().optional(), {
    value: "<file>",
    about: "with --all: this encrypted file, not a folder's vault",
  }),
  purpose: flag(z.string().default("reveal"), { value: "<text>", about: "why, for the record of uses" }),
  ...DIR,
  ...IDENTITY,
});
type RevealInput = z.output<typeof RevealInput>;

const reveal = rawCommand({
  name: "reveal",
  summary: "print one credential's value to a pipe",
  input: RevealInput,
  about: [
    "Every use is recorded by name, time and purpose in delivery/logs/credentials.jsonl. To give a credential to a program, exec is safer.",
  ],
  examples: [["nutshell reveal staging-db --field password | pbcopy", "into the clipboard, not onto the screen"]],
  async run(input, io, { json, quiet, program }) {
    if (io.stdout.isTTY === true && !input.show) {
      throw new NutError("USAGE", "the value would stay on the screen; pipe it, or say --show", {
        hint: `nutshell exec --with ${shellWord(input.name ?? "<name>")}${dirWords(input.dir)} -- sh -c '<command>'`,
      });
    }
    const progress = progressLine(io, { program: program.name, quiet, color: false }).show;
    const context = contextOf(io, json, progress);
    const keys = collectKeys(input.identity, context);
    const value = input.all ? await wholeVault(input, keys, context) : await oneValue(input, keys, context);
    const text = () => Buffer.from(value).toString("utf8");
    if (json) io.stdout.write(`${jsonText({ name: input.name ?? null, value: text() }, 2)}\n`);
    else if (io.stdout.isTTY === true) io.stdout.write(`${text().split("\n").map(printable).join("\n")}\n`);
    // A pipe gets the value and nothing else: not even a newline, which would become part of a password.
    else io.stdout.write(value);
    return 0;
  },
});
export default aboutFolder(reveal);

async function wholeVault(input: RevealInput, keys: Keys, context: Context): Promise<Uint8Array> {
  if (input.name !== undefined)
    throw new NutError("USAGE", "--all takes no name", {
      hint: "nutshell reveal --all, or nutshell reveal '<name>'",
    });
  if (input.file !== undefined) return openVaultBytes(readBytes(resolve(context.cwd, input.file)), undefined, keys);
  const folder = readVaultFolder(folderTarget(input.dir, context).path, context.env);
  if (folder.bytes === null) throw noVault(folder);
  const value = await openVaultBytes(folder.bytes, folder.manifest.credentials?.encryption, keys);
  const at = wholeSeconds(context.now());
  recordUses(
    folder.dir,
    readVault(value).credentials.map(({ name }) => ({ name, at, purpose: input.purpose })),
  );
  return value;
}

async function oneValue(input: RevealInput, keys: Keys, context: Context): Promise<Uint8Array> {
  if (input.name === undefined)
    throw new NutError("USAGE", "nutshell reveal needs <name>", { hint: `nutshell credentials${dirWords(input.dir)}` });
  const folder = readVaultFolder(folderTarget(input.dir, context).path, context.env);
  const { vault } = await unlock(folder, keys);
  const credential = findCredential(vault, input.name);
  assertUsable(vault, credential, folder.manifest.credentials?.scopes ?? [], context.now());
  const value = pick(credential.value, input.field);
  recordUses(folder.dir, [{ name: input.name, at: wholeSeconds(context.now()), purpose: input.purpose }]);
  return Buffer.from(value, "utf8");
}

function pick(value: string | Record<string, unknown>, field: string | undefined): string {
  if (field === undefined) return typeof value === "string" ? value : JSON.stringify(value, null, 2);
  if (typeof value === "string" || !Object.hasOwn(value, field)) {
    const fields = typeof value === "string" ? "its value is plain text" : `it has ${Object.keys(value).join(", ")}`;
    throw new NutError("CREDENTIAL_NOT_FOUND", `the credential has no field "${field}"; ${fields}`, {
      hint: "nutshell reveal '<name>' without --field prints all of it",
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
