import { resolve } from "node:path";
import { z } from "zod";
import { operation } from "../../../operation.js";
import { collectKeys, keyInput } from "../../../request/keys.js";
import { readVaultFolder, unlock } from "../../../request/vault-folder.js";
import { findCredential, wholeSeconds } from "../../../vault/index.js";
import { finish, RotateResult, replaceCredential, requireSigner } from "./rotate.js";

export const revoke = operation({
  name: "credential_revoke",
  summary: "take a credential's value out of the vault and mark it as revoked",
  input: z.object({
    dir: z.string().default("."),
    name: z.string(),
    export: z.string().optional(),
    signer: z.string().optional(),
    ...keyInput,
  }),
  output: RotateResult,
  async run(input, context) {
    const folder = readVaultFolder(resolve(context.cwd, input.dir), context.env);
    const signer = input.export === undefined ? null : requireSigner(folder.manifest, input.signer, context);
    const keys = collectKeys(input.identity, context);
    const opened = await unlock(folder, keys);
    const old = findCredential(opened.vault, input.name);
    const vault = replaceCredential(opened.vault, { ...old, value: "", revoked_at: wholeSeconds(context.now()) });
    return finish(folder, { ...opened, vault, keys }, { ...input, signer }, context);
  },
});
