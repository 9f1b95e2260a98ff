import type { Flag, Positional, Values } from "../../cli/command.js";
import { NutError } from "../../errors.js";
import { COMPRESSIONS } from "../../schema/manifest.js";
import { DIR } from "./flags.js";

const LEVEL_CHOICES = ["none", "fast", "default", "best"] as const;

/** Flags of everything that writes a bundle from a folder. */
export const LEVEL_FLAGS: Readonly<Record<string, Flag>> = {
  ...DIR,
  output: { short: "o", value: "<file>", about: "file to write (default: named after the title)" },
  compression: { value: "<name>", about: "how to compress", choices: COMPRESSIONS },
  level: { value: "<level>", about: "effort", choices: LEVEL_CHOICES },
};

/** Flags of everything that reads a bundle it did not make. */
export const LIMIT_FLAGS: Readonly<Record<string, Flag>> = {
  "max-entries": { value: "<n>", about: "entries accepted (default: 50000)" },
  "max-size": { value: "<bytes>", about: "unpacked bytes accepted (default: 2 GiB)" },
};

export const DIR_OR_OUTPUT: Positional = {
  name: "dir or output.nut",
  field: "words",
  about: "folder to pack, file to write",
  optional: true,
  many: true,
};

/** A word that ends in .nut is the output, another is the folder. */
export function dirAndOutput({ words = [], ...values }: Values): Values {
  const result: Values = { ...values };
  for (const word of words as string[]) {
    const field = /\.nut$/i.test(word) ? "output" : "dir";
    if (result[field] !== undefined) {
      throw new NutError("USAGE", `"${word}" is one ${field === "dir" ? "folder" : "output"} too many`, {
        hint: "nutshell pack --dir <dir> -o <file>.nut",
      });
    }
    result[field] = word;
  }
  return result;
}
