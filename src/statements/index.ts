// Who says so: statements about bundles, signatures with SSH keys, whose key is whose, and what a policy makes of it. Pure.
export {
  formatTrustLine,
  type KeyStanding,
  keyStanding,
  NO_TRUST,
  parseAllowedSigners,
  parseRevoked,
  principalProblem,
  type Trust,
  type TrustLine,
} from "./allowed-signers.js";
export {
  type Chain,
  type ChainDelivery,
  type ChainTask,
  chainOf,
  isOwnVerdict,
  type Piece,
  refusedBy,
} from "./chain.js";
export {
  type EnvelopeList,
  formatEnvelopes,
  formatSignatures,
  joinSignatures,
  MAX_ENVELOPES,
  MAX_LIST_BYTES,
  NO_SIGNATURES,
  parseEnvelopes,
  preAuthEncoding,
  type Signatures,
  type Signer,
  signatureLines,
  signingKeys,
  signStatement,
} from "./envelope.js";
export { judgeSignatures, type SigstoreTrust, type Subject, type Voucher } from "./judge.js";
export {
  type BundleName,
  deliveryStatement,
  type RunFacts,
  requestStatement,
  type VerdictInput,
  verdictStatement,
} from "./make.js";
export { believedBy, deliveryRefusals, independentVerdicts, isNamed, requestRefusal, statedVerdict } from "./policy.js";
export { loadSigstore, MAX_ROOT_BYTES } from "./sigstore.js";
export { ed25519Blob, fingerprint, keyLine, parseKeyLine, readKey, type SshKey } from "./ssh-key.js";
export { wireString } from "./ssh-wire.js";
export { bytesToSign, dearmor, decodeSignature, encodeSignature } from "./sshsig.js";
