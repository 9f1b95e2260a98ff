import { z } from "zod";
import { command } from "../../../cli/command.js";
import { positional } from "../../../cli/fields.js";
import { folderTarget } from "../../../request/open/target.js";
import { collectKeys } from "../../../request/vault/keys.js";
import { RotateResult, replaceCredential, requireSigner, saveRotation } from "../../../request/vault/rotation.js";
import { readVaultFolder, unlock } from "../../../request/vault/vault-folder.js";
import { findCredential, wholeSeconds } from "../../../vault/index.js";
import { DIR } from "../flags.js";
import { aboutFolder } from "./about-folder.js";
import { EXPORT, IDENTITY } from "./credentials-flags.js";
import { rotateLines } from "./credentials-text.js";

const revoke = command({
  name: "revoke",
  summary: "take a credential out of the vault",
  input: z.object({
    name: positional(z.string(), { about: "the credential" }),
    ...EXPORT,
    ...IDENTITY,
    ...DIR,
  }),
  output: RotateResult,
  about: [
    "The value leaves this vault and is handed out no more. Bundles given away before still hold it: revoke it where it was issued, too.",
  ],
  examples: [["nutshell revoke staging-db --export revoked.rotation.json", "here, and for every holder of the bundle"]],
  async run(input, context) {
    const folder = readVaultFolder(folderTarget(input.dir, context).path, context.env);
    const signer = input.export === undefined ? null : requireSigner(folder.manifest, input.signer, context);
    const keys = collectKeys(input.identity, context);
    const opened = await unlock(folder, keys);
    const old = findCredential(opened.vault, input.name);
    const vault = replaceCredential(opened.vault, { ...old, value: "", revoked_at: wholeSeconds(context.now()) });
    return saveRotation(folder, { ...opened, vault, keys }, { ...input, signer }, context);
  },
  text: rotateLines,
});
export default aboutFolder(revoke);
