import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
import { fromSystemError, NutError } from "../../../errors.js";
import { operation } from "../../../operation.js";
import { putVault, readVaultFolder } from "../../../request/vault-folder.js";
import { detectBackend, readRotation } from "../../../vault/index.js";
import { sequenceOf, withSequence } from "./rotate.js";

const MAX_ROTATION_BYTES = 96 * 1024 * 1024;

export const applyRotation = operation({
  name: "rotation_apply",
  summary: "take over the publisher's renewed credentials into a bundle you hold",
  input: z.object({ file: z.string(), dir: z.string().default(".") }),
  output: z.object({ sequence: z.int(), issued_at: z.string(), credentials: z.array(z.string()), vault: z.string() }),
  async run({ file, dir }, { cwd, env }) {
    const folder = readVaultFolder(resolve(cwd, dir), env);
    const rotation = readRotation(readText(resolve(cwd, file)), {
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
});

function readText(path: string): string {
  try {
    if (statSync(path).size > MAX_ROTATION_BYTES)
      throw new NutError("BUNDLE_LIMIT", `${path}: too large for a rotation file`);
    return readFileSync(path, "utf8");
  } catch (error) {
    throw fromSystemError(error, path) ?? error;
  }
}
