// Sigstore's own library, imported by name in a file of its own: a bundler gives the names of such packages to static imports
// alone, and only who gives a trust root should load them.
export { bundleFromJSON } from "@sigstore/bundle";
export { TrustedRoot } from "@sigstore/protobuf-specs";
export { toSignedEntity, toTrustMaterial, Verifier } from "@sigstore/verify";
