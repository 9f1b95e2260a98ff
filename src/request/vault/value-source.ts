// Where a secret value comes from: a prompt without echo, a file, standard input or an environment variable. Never argv,
// which every process on the machine can read and every shell remembers.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fromSystemError, NutError } from "../../errors.js";
import type { Context } from "../../operation.js";
import type { Credential } from "../../schema/vault.js";

export interface ValueSource {
  readonly valueFile?: string | undefined;
  readonly valueEnv?: string | undefined;
  readonly valueStdin: boolean;
  readonly text: boolean;
}

const MAX_VALUE_BYTES = 1 << 20;

export function hasValue({ valueFile, valueEnv, valueStdin }: ValueSource): boolean {
  return valueFile !== undefined || valueEnv !== undefined || valueStdin;
}

/** `command` is what to run instead when nobody can be asked, up to the flag that names the source. */
export async function readValue(source: ValueSource, context: Context, command: string): Promise<Credential["value"]> {
  const named = [source.valueFile, source.valueEnv, source.valueStdin || undefined].filter((one) => one !== undefined);
  if (named.length > 1)
    throw new NutError("USAGE", "the value comes from one place: --value-file, --value-env or --value-stdin", {
      hint: `${command} --value-file "<file>"`,
    });
  const raw = await readRaw(source, context, command);
  if (raw === "")
    throw new NutError("USAGE", "the value is empty; nothing was changed", {
      hint: `${command} --value-file "<file>"`,
    });
  return source.text ? raw : asObject(raw);
}

async function readRaw(source: ValueSource, context: Context, command: string): Promise<string> {
  if (source.valueFile !== undefined) return withoutNewline(fileText(resolve(context.cwd, source.valueFile)));
  if (source.valueEnv !== undefined) {
    const value = context.env[source.valueEnv];
    if (value === undefined)
      throw new NutError("USAGE", `the environment has no variable ${source.valueEnv}`, {
        hint: `export ${source.valueEnv}=…`,
      });
    return value;
  }
  if (source.valueStdin) return withoutNewline(await streamText(context));
  if (context.ask !== null) return context.ask.secret("Value (text or a JSON object, not shown)");
  throw new NutError("NO_TERMINAL", "the value must come from somewhere, and nobody can be asked for it", {
    hint: `${command} --value-file "<file>"`,
  });
}

function fileText(path: string): string {
  try {
    return decode(readFileSync(path));
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
}

async function streamText({ stdin }: Context): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of stdin()) {
    bytes += (part as Buffer).length;
    if (bytes > MAX_VALUE_BYTES) break;
    parts.push(Buffer.from(part as Buffer));
  }
  if (bytes > MAX_VALUE_BYTES) throw tooLarge();
  return decode(Buffer.concat(parts));
}

function tooLarge(): NutError {
  return new NutError("USAGE", "the value is larger than 1 MB", {
    hint: "put the file itself under files/, or keep it where it is and give access to it",
  });
}

function decode(bytes: Buffer): string {
  if (bytes.length > MAX_VALUE_BYTES) throw tooLarge();
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new NutError("USAGE", "the value is not UTF-8 text", {
      hint: "a credential is text: encode it first, for example with base64",
    });
  }
}

/** Editors and echo end a file with a newline that is no part of the secret. */
function withoutNewline(text: string): string {
  return text.replace(/\r?\n$/, "");
}

function asObject(text: string): Credential["value"] {
  if (!text.trimStart().startsWith("{")) return text;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new NutError("USAGE", "the value starts like a JSON object but is not one", {
      hint: "add --text to take it as it is",
    });
  }
  if (text.includes('"__proto__"'))
    throw new NutError("USAGE", 'the value has a field named "__proto__"', {
      hint: "rename that field, or add --text to take the value as it is",
    });
  return value as Record<string, unknown>;
}
