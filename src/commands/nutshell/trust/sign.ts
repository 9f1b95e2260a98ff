import { statSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { dim, green } from "../../../cli/text.js";
import { signBundle } from "../../../request/signatures/sign-bundle.js";
import { findSigningKey } from "../../../request/signatures/signing-key.js";
import { KEY } from "./signing-flags.js";

export default command({
  name: "sign",
  summary: "vouch for a request or a delivery with your key",
  input: z.object({
    bundle: positional(z.string(), { about: "a .nut file, or a folder" }),
    ...KEY,
    sidecar: flag(z.boolean().default(false), { about: "put the signature beside it, into <bundle>.sigs" }),
  }),
  output: z.object({
    path: z.string(),
    written: z.string().describe("where the signature lies"),
    says: z.enum(["request", "delivery"]),
    content_digest: z.string(),
    key: z.string().describe("fingerprint"),
  }),
  about: [
    "A request: you ask for this. A delivery: you made this, from that request. What is signed is the content digest, so packing the same content again keeps the signature valid, and adding one changes no digest.",
    "Keys: ~/.ssh/id_ed25519 and its kin, else the identity of nutshell keygen --peer; a passphrase is for ssh-agent (ssh-add). A signature lies in the file after its archive; for a folder, or a bundle in zstd or without compression, beside it in <bundle>.sigs.",
  ],
  examples: [
    ["nutshell sign task.nut", "with your own key"],
    ["nutshell sign task.nut --key ~/.ssh/work.pub", "with a key that ssh-agent holds"],
  ],
  async run({ bundle, key, sidecar }, context) {
    const path = resolve(context.cwd, bundle);
    // A mistyped name is told before a missing key.
    statSync(path);
    const signer = findSigningKey(key, context);
    const { kind, digest, envelope, written } = await signBundle({ path, key: signer, sidecar, facts: null }, context);
    return { path, written, says: kind, content_digest: digest, key: envelope.signatures[0]!.keyid! };
  },
  text: ({ written, says, content_digest: digest, key }) => [
    `${green("✓")} signed: you ${says === "request" ? "ask for" : "made"} this ${says}`,
    `  Content: ${digest}`,
    `  Key: ${key}`,
    dim(`  in ${written}`),
  ],
});
