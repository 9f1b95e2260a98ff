import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { NutError } from "../../../errors.js";
import { operation } from "../../../operation.js";
import { defaultIdentityPath, defaultPeerPath } from "../../../request/keys.js";
import {
  generateAgeIdentity,
  peerIdentity,
  peerIdOf,
  writeAgeIdentityFile,
  writeIdentityFile,
} from "../../../vault/index.js";

export const keygen = operation({
  name: "keygen",
  summary: "make an identity that opens vaults, or one that receives sealed bundles and signs rotations",
  input: z.object({
    output: z.string().optional().describe("file to create; never overwritten"),
    peer: z.boolean().default(false).describe("an Ed25519 identity: receives sealed bundles, signs rotations"),
  }),
  output: z.object({
    path: z.string(),
    recipient: z.string().optional(),
    public_key: z.string().optional(),
    peer_id: z.string().optional(),
  }),
  async run({ output, peer }, { cwd, env, now }) {
    const path = output === undefined ? (peer ? defaultPeerPath(env) : defaultIdentityPath(env)) : resolve(cwd, output);
    if (existsSync(path)) {
      throw new NutError("FILE_EXISTS", `${path}: an identity is there already; it is never overwritten`, {
        hint: `nutshell keygen ${peer ? "--peer " : ""}-o <other file>`,
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
});
