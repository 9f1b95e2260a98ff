// Flags that several credential commands share, so that one word means one thing in all of them.
import type { Flag } from "../../../cli/command.js";

export const identityFlag: Readonly<Record<string, Flag>> = {
  identity: {
    short: "i",
    value: "<file>",
    many: true,
    about: "age identity file (default: the one keygen made)",
  },
};

export const valueFlags: Readonly<Record<string, Flag>> = {
  "value-file": { value: "<file>", about: "read the value from a file" },
  "value-env": { value: "<NAME>", about: "read it from an environment variable" },
  "value-stdin": { about: "read it from standard input" },
  text: { about: "take a value that looks like JSON as text" },
};

export const encryptionFlags: Readonly<Record<string, Flag>> = {
  encryption: {
    value: "<kind>",
    choices: ["age", "sops", "vault", "none"],
    about: "age, sops, vault (HashiCorp transit) or none",
  },
  "transit-key": { value: "<name>", about: "key of the transit engine (default: nutshell)" },
};

export const exportFlags: Readonly<Record<string, Flag>> = {
  export: { value: "<file>", about: "write a signed rotation for holders of the bundle" },
  signer: { value: "<file>", about: "Ed25519 identity that signs it (default: keygen --peer's)" },
};
