// Flags of everything that writes a bundle from a folder, or reads one it did not make.
import { z } from "zod";
import { LEVELS, type Limits } from "../../bundle/index.js";
import { flag, positional } from "../../cli/fields.js";
import { NutError } from "../../errors.js";
import { COMPRESSIONS } from "../../schema/manifest.js";
import { DIR } from "./flags.js";

/** `level` is the effort when nothing is said. */
export const levelFlags = (level: (typeof LEVELS)[number]) => ({
  ...DIR,
  output: flag(z.string().optional(), {
    short: "o",
    value: "<file>",
    about: "file to write (default: named after the title)",
  }),
  compression: flag(z.enum(COMPRESSIONS).default("gzip"), { value: "<name>", about: "how to compress" }),
  level: flag(z.enum(LEVELS).default(level), { value: "<level>", about: "effort" }),
});

/** What may leave although the guard of `pack` would hold it back. */
export const GUARD_FLAGS = {
  allow: flag(z.array(z.string()).default([]), {
    value: "<path>",
    about: "pack this file although it looks like a secret",
  }),
  plainVault: flag(z.boolean().default(false), { about: "pack a vault that is not encrypted: anyone can read it" }),
  vaultIdentity: flag(z.array(z.string()).default([]), {
    value: "<file>",
    about: "age identity that opens the vault, to look for its values",
  }),
};

/** How much a bundle may hold before it is refused; typed by a person, so given as text. */
export const LIMIT_FLAGS = {
  maxEntries: flag(z.coerce.number().int().positive().optional(), {
    value: "<n>",
    about: "entries accepted (default: 50000)",
  }),
  maxSize: flag(z.coerce.number().int().positive().optional(), {
    value: "<bytes>",
    about: "unpacked bytes accepted (default: 2 GiB)",
  }),
};

export function limitsOf(input: { maxEntries?: number | undefined; maxSize?: number | undefined }): Partial<Limits> {
  return {
    ...(input.maxEntries === undefined ? {} : { maxEntries: input.maxEntries }),
    ...(input.maxSize === undefined ? {} : { maxTotalBytes: input.maxSize }),
  };
}

/** Up to two words, a folder and a file, in any order. */
export const DIR_OR_OUTPUT = {
  words: positional(z.array(z.string()).default([]), {
    name: "dir or output.nut",
    about: "folder to pack, file to write",
  }),
};

interface Named {
  readonly words: readonly string[];
  readonly dir?: string | undefined;
  readonly output?: string | undefined;
}

/** A word that ends in .nut is the output, another is the folder. */
export function dirAndOutput<Input extends Named>({ words, ...rest }: Input) {
  let { dir, output } = rest;
  for (const word of words) {
    const isOutput = /\.nut$/i.test(word);
    if ((isOutput ? output : dir) !== undefined) {
      throw new NutError("USAGE", `"${word}" is one ${isOutput ? "output" : "folder"} too many`, {
        hint: "nutshell pack --dir '<dir>' -o '<file>.nut'",
      });
    }
    if (isOutput) output = word;
    else dir = word;
  }
  return { ...rest, dir: dir ?? ".", output };
}
