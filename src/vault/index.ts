export {
  ageDecrypt,
  ageEncrypt,
  checkRecipient,
  generateAgeIdentity,
  parseAgeIdentities,
  readAgeIdentityFile,
  recipientOf,
  SCRYPT_MAX_LOG_N,
  writeAgeIdentityFile,
} from "./age.js";
export {
  BACKENDS,
  type Backend,
  type BackendName,
  type Keys,
  type RunProgram,
  type Target,
  type TransitSettings,
} from "./backend.js";
export {
  EXPIRY_STATES,
  type ExpiryState,
  earliestExpiry,
  expiryState,
  parseExpiry,
  parseTime,
  wholeSeconds,
} from "./expiry.js";
export {
  assertUsable,
  findCredential,
  type HandOut,
  type HandOutRequest,
  handOut,
  type Terms,
  variablesOf,
} from "./hand-out.js";
export { isSecretFileName } from "./leak-rules.js";
export {
  byPlace,
  type Leak,
  type LeakScanner,
  type LeakScannerOptions,
  leakScanner,
  type Watcher,
} from "./leak-scan.js";
export {
  type PeerIdentity,
  parseIdentity,
  peerIdentity,
  readIdentityFile,
  sign,
  writeIdentityFile,
} from "./peer.js";
export { parsePeer, peerIdOf, verifySignature } from "./peer-key.js";
export { Rotation, readRotation, SignedRotation, signRotation } from "./rotation.js";
export { type BulkPass, type Scrubber, scrubber } from "./scrub.js";
export { openSealed, sealBundle } from "./sealed.js";
export { isSealed, SEALED_MAX_BYTES } from "./sealed-format.js";
export { readSecretFile } from "./secret-file.js";
export { isPublicField, type Secret, secretsOf } from "./secrets.js";
export { rewrapTransit } from "./transit-backend.js";
export { type CredentialUse, parseUses, readUses, recordUses, USES_PATH } from "./uses.js";
export {
  checkBackend,
  detectBackend,
  newVault,
  type OpenedVault,
  openVault,
  openVaultBytes,
  readVault,
  sealVault,
  VAULT_PATH,
  VAULT_VERSION,
} from "./vault.js";
