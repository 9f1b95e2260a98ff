// Flags that several credential commands share, so that one word means one thing in all of them.
import { z } from "zod";
import { flag } from "../../../cli/fields.js";
import { BACKENDS } from "../../../vault/index.js";

export const IDENTITY = {
  identity: flag(z.array(z.string()).default([]), {
    short: "i",
    value: "<file>",
    about: "age identity file (default: the one keygen made)",
  }),
};

export const VALUE = {
  valueFile: flag(z.string().optional(), { value: "<file>", about: "read the value from a file" }),
  valueEnv: flag(z.string().optional(), { value: "<NAME>", about: "read it from an environment variable" }),
  valueStdin: flag(z.boolean().default(false), { about: "read it from standard input" }),
  text: flag(z.boolean().default(false), { about: "take a value that looks like JSON as text" }),
};

/** Absent means what the vault already is, or age. */
export const ENCRYPTION = {
  encryption: flag(z.enum(BACKENDS).optional(), {
    value: "<kind>",
    about: "age, sops, vault (HashiCorp transit) or none",
  }),
  transitKey: flag(z.string().optional(), {
    value: "<name>",
    about: "key of the transit engine (default: nutshell)",
  }),
};

export const EXPORT = {
  export: flag(z.string().optional(), {
    value: "<file>",
    about: "write a signed rotation for holders of the bundle",
  }),
  signer: flag(z.string().optional(), {
    value: "<file>",
    about: "Ed25519 identity that signs it (default: keygen --peer's)",
  }),
};
