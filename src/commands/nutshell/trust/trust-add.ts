import { resolve } from "node:path";
import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { green } from "../../../cli/text.js";
import { NutError, shellWord } from "../../../errors.js";
import type { Context } from "../../../operation.js";
import { inTurn } from "../../../request/records/in-turn.js";
import { addTrust, readPublicKey } from "../../../request/signatures/edit-trust.js";
import { readSignatures } from "../../../request/signatures/signatures.js";
import { trustPath } from "../../../request/signatures/trust-files.js";
import { fingerprint, type SshKey, signingKeys } from "../../../statements/index.js";
import { Moment } from "./signing-flags.js";

export default command({
  name: "trust add",
  summary: "say whose key is whose",
  input: z.object({
    principal: positional(z.string(), { about: "who, such as alice@example.org" }),
    key: flag(z.string().optional(), {
      value: "<key>",
      about: "their public key: a .pub file, its line, 64 hex digits or a peer id",
    }),
    from: flag(z.string().optional(), { value: "<bundle>", about: "the key that signed this bundle, taken on sight" }),
    validAfter: flag(Moment.optional(), { value: "<time>", about: "not before this time" }),
    validBefore: flag(Moment.optional(), { value: "<time>", about: "not from this time on" }),
  }),
  output: z.object({
    added: z.boolean().describe("false: it was there already"),
    path: z.string(),
    principal: z.string(),
    key: z.string().describe("fingerprint"),
  }),
  about: [
    "Writes a line into allowed_signers, the format of git and ssh-keygen ($NUTSHELL_ALLOWED_SIGNERS, or ~/.config/nutshell/allowed_signers), for signatures of bundles only. Requests and deliveries they sign then run without a question; what a policy demands still holds.",
    "Compare the fingerprint with its owner by another way before you rely on it.",
  ],
  examples: [
    ["nutshell trust add alice@example.org --key alice.pub", "a key she gave you"],
    ["nutshell trust add bob@example.org --from task.nut", "the key on a bundle you know to be his"],
  ],
  async run({ principal, key, from, validAfter, validBefore }, context) {
    if ((key === undefined) === (from === undefined)) {
      throw new NutError("USAGE", "give the key with --key, or a bundle it signed with --from", {
        hint: `nutshell trust add ${shellWord(principal)} --key '<file>.pub'`,
      });
    }
    const read = key === undefined ? keyOn(from!, context) : readPublicKey(key, context);
    const time = (text: string | undefined) => (text === undefined ? null : new Date(text));
    const line = { principal, key: read, validAfter: time(validAfter), validBefore: time(validBefore) };
    const added = await inTurn("changing-trust", context, () => addTrust(line, context));
    return { added, path: trustPath(context)!, principal, key: fingerprint(read) };
  },
  text: ({ added, path, principal, key }) => [
    `${green("✓")} ${principal} ${added ? "is" : "was already"} trusted with key ${key}`,
    `  in ${path}`,
  ],
});

/** The one key whose signature holds on a bundle. */
function keyOn(typed: string, { cwd }: Context): SshKey {
  const keys = signingKeys(readSignatures(resolve(cwd, typed)).envelopes);
  if (keys.length === 1) return keys[0]!;
  const message = keys.length === 0 ? "nobody signed it" : "several keys signed it: name the one you mean with --key";
  throw new NutError("TRUST_INVALID", `${typed}: ${message}`, { hint: `nutshell inspect ${shellWord(typed)}` });
}
