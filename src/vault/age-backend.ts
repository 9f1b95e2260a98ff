import { NutError } from "../errors.js";
import { ageDecrypt, ageEncrypt, isAge, readAgeHeader } from "./age.js";
import type { Backend } from "./backend.js";

export const ageBackend: Backend = {
  name: "age",
  recognises: isAge,
  open: (bytes, keys) =>
    ageDecrypt(bytes, { identities: keys.identities, ...(keys.passphrase ? { passphrase: keys.passphrase } : {}) }),
  async seal(plain, { recipients = [], passphrase, armored = true }, keys) {
    if (recipients.length > 0) return ageEncrypt(plain, { recipients, armored });
    const words = passphrase ?? (await keys.passphrase?.()) ?? null;
    if (words === null || words === "") throw new NutError("IDENTITY_MISSING", "nobody to encrypt for");
    return ageEncrypt(plain, { passphrase: words, armored });
  },
  targetOf(bytes) {
    readAgeHeader(bytes);
    return { armored: bytes[0] === 0x2d };
  },
};
