import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag } from "../../../cli/fields.js";
import { NutError, shellWord } from "../../../errors.js";
import { defaultIdentityPath, defaultPeerPath } from "../../../request/vault/keys.js";
import {
  generateAgeIdentity,
  peerIdentity,
  peerIdOf,
  writeAgeIdentityFile,
  writeIdentityFile,
} from "../../../vault/index.js";

export default command({
  name: "keygen",
  summary: "make an identity that opens vaults or receives sealed bundles",
  input: z.object({
    output: flag(z.string().optional(), { short: "o", value: "<file>", about: "where to put it" }),
    peer: flag(z.boolean().default(false), {
      about: "an Ed25519 identity: receives sealed bundles, signs rotations",
    }),
  }),
  output: z.object({
    path: z.string(),
    recipient: z.string().optional(),
    public_key: z.string().optional(),
    peer_id: z.string().optional(),
  }),
  about: [
    "The file is readable by you alone and is never overwritten. Keep it out of bundle folders; give away only the public key that is printed.",
  ],
  examples: [
    ["nutshell keygen", "an age identity, which opens vaults"],
    ["nutshell keygen --peer", "an Ed25519 identity and its peer id"],
  ],
  async run({ output, peer }, { cwd, env, now }) {
    const path = output === undefined ? (peer ? defaultPeerPath(env) : defaultIdentityPath(env)) : resolve(cwd, output);
    if (existsSync(path)) {
      throw new NutError("FILE_EXISTS", `${path} is there already and is never overwritten`, {
        hint: `nutshell keygen ${peer ? "--peer " : ""}-o ${shellWord(`${path}.new`)}`,
        data: { path },
      });
    }
    if (peer) {
      const identity = peerIdentity(Uint8Array.from(randomBytes(32)));
      writeIdentityFile(path, identity);
      const publicKey = Buffer.from(identity.publicKey).toString("hex");
      return { path, public_key: publicKey, peer_id: peerIdOf(identity.publicKey) };
    }
    const identity = await generateAgeIdentity();
    writeAgeIdentityFile(path, identity, now());
    return { path, recipient: identity.recipient };
  },
  text: ({ path, recipient, public_key, peer_id }) => [
    `Identity: ${path}`,
    ...(recipient === undefined ? [] : [`Recipient: ${recipient}`]),
    ...(public_key === undefined ? [] : [`Public key: ${public_key}`, `Peer id: ${peer_id}`]),
  ],
});
