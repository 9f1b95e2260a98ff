import { NutError } from "../errors.js";
import { ageDecrypt, ageEncrypt, isAge, readAgeHeader } from "./age.js";
import type { Backend } from "./backend.js";

export const ageBackend: Backend = {
  name: "age",
  recognises: isAge,
  open: (bytes, keys) =>
    ageDecrypt(bytes, { identities: keys.identities, ...(keys.passphrase ? { passphrase: keys.passphrase } : {}) }),
  async seal(plain, { recipients = [], passphrase, byPassphrase = false, armored = true }, keys) {
    if (recipients.length > 0) return ageEncrypt(plain, { recipients, armored });
    const words = passphrase ?? (byPassphrase ? await keys.passphrase?.() : null) ?? "";
    if (words === "") {
      // A vault of the age program does not say who it is for; guessing would lock somebody out.
      throw new NutError("IDENTITY_MISSING", "the vault does not say who it is for, and no recipient is named", {
        hint: "add --recipient '<age1…>' for everyone who must open it, yourself included",
      });
    }
    return ageEncrypt(plain, { passphrase: words, armored });
  },
  async targetOf(bytes) {
    return { armored: bytes[0] === 0x2d, byPassphrase: (await readAgeHeader(bytes)).passphrase };
  },
};
