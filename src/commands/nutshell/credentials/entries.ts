import type { Entry } from "../../../cli/command.js";

const group = "Credentials";

export const credentialsEntries: readonly Entry[] = [
  {
    name: "keygen",
    summary: "make an identity that opens vaults or receives sealed bundles",
    group,
    load: () => import("./keygen.text.js"),
  },
  {
    name: "add-credential",
    summary: "put a secret into the vault",
    group,
    load: () => import("./add-credential.text.js"),
  },
  {
    name: "credentials",
    summary: "what the vault gives access to, and until when",
    group,
    load: () => import("./credentials.text.js"),
  },
  {
    name: "exec",
    summary: "run a program with credentials in its environment only",
    group,
    load: () => import("./exec.text.js"),
  },
  {
    name: "reveal",
    summary: "print one credential's value to a pipe",
    group,
    load: () => import("./reveal.text.js"),
  },
  {
    name: "rotate",
    summary: "audit expiry; renew, replace, re-encrypt",
    group,
    load: () => import("./rotate.text.js"),
  },
  {
    name: "apply-rotation",
    summary: "take over the publisher's renewed credentials",
    group,
    load: () => import("./apply-rotation.text.js"),
  },
  {
    name: "revoke",
    summary: "take a credential out of the vault",
    group,
    load: () => import("./revoke.text.js"),
  },
];
