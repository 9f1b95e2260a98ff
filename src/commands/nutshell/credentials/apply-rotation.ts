import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { command } from "../../../cli/command.js";
import { positional } from "../../../cli/fields.js";
import { count } from "../../../cli/text.js";
import { fromSystemError, NutError } from "../../../errors.js";
import { folderTarget } from "../../../request/open/target.js";
import { sequenceOf, withSequence } from "../../../request/vault/rotation.js";
import { putVault, readVaultFolder } from "../../../request/vault/vault-folder.js";
import { detectBackend, readRotation } from "../../../vault/index.js";
import { DIR } from "../flags.js";
import { aboutFolder } from "./about-folder.js";

const MAX_ROTATION_BYTES = 96 * 1024 * 1024;

const applyRotation = command({
  name: "apply-rotation",
  summary: "take over the publisher's renewed credentials",
  input: z.object({
    file: positional(z.string(), { about: "the publisher's rotation file" }),
    ...DIR,
  }),
  output: z.object({ sequence: z.int(), issued_at: z.string(), credentials: z.array(z.string()), vault: z.string() }),
  about: [
    "Accepted only when it is signed by the key the bundle's manifest names (publisher.public_key), is for this bundle, and is newer than the last one.",
  ],
  examples: [["nutshell apply-rotation new.rotation.json --dir my-task", "renew what you hold"]],
  async run({ file, dir }, context) {
    const folder = readVaultFolder(folderTarget(dir, context).path, context.env);
    const rotation = readRotation(readText(resolve(context.cwd, file)), {
      bundleId: folder.manifest.id,
      publicKey: folder.manifest.publisher?.public_key,
      sequence: sequenceOf(folder.manifest),
    });
    const bytes = Buffer.from(rotation.vault, "base64");
    const declared = folder.manifest.credentials?.encryption;
    if (detectBackend(bytes) !== rotation.encryption || (rotation.encryption === "none" && declared !== "none")) {
      throw new NutError("ROTATION_REFUSED", "the rotation is refused: its vault is not encrypted as it says");
    }
    await putVault(folder, bytes, (manifest) => {
      const credentials = { ...manifest.credentials, vault: folder.path, encryption: rotation.encryption };
      const renewed = { ...manifest, credentials: { ...credentials, scopes: rotation.scopes } };
      return withSequence(renewed, rotation.sequence, rotation.issued_at);
    });
    return {
      sequence: rotation.sequence,
      issued_at: rotation.issued_at,
      credentials: rotation.scopes.map(({ name }) => name),
      vault: folder.path,
    };
  },
  text: ({ sequence, credentials, vault }) => [
    `Applied: rotation ${sequence}, ${count(credentials.length, "credential")} in ${vault}`,
  ],
});
export default aboutFolder(applyRotation);

function readText(path: string): string {
  try {
    if (statSync(path).size > MAX_ROTATION_BYTES)
      throw new NutError("BUNDLE_LIMIT", `${path}: too large for a rotation file`);
    return readFileSync(path, "utf8");
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
}
