// Bundles in OCI registries. Knows nothing of what a bundle holds.
export {
  type Artifact,
  type BundleFacts,
  getBundle,
  getStatements,
  holdsSize,
  putArtifact,
  putBundle,
  putStatements,
} from "./artifact.js";
export { findLogin } from "./auth.js";
export { type Descriptor, hashFile } from "./blobs.js";
export { MANIFEST_TYPE, Registry } from "./client.js";
export { parseReference, type Reference } from "./reference.js";
