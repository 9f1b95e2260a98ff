// Bundles: bytes ⇄ files. The public face of `nutcracker/bundle`.
export { type Finding, NutError } from "../errors.js";
export type { Manifest, TreeRow } from "../schema/manifest.js";
export { assess, type Completeness, contextTokens, DEFAULT_CONTEXT_WINDOW, type Passed } from "./completeness.js";
export { resolveReference } from "./completeness-references.js";
export { LEVELS, type Level } from "./compressor.js";
export { type ContentEntry, type ContentOptions, type OpenedContent, openContent } from "./content.js";
export { contentFindings, type JudgedContent, manifestReferences, type Reference } from "./content-findings.js";
export type { Compression } from "./decompress.js";
export { type Difference, type DiffOptions, diffContents, diffManifests } from "./diff.js";
export { folderTokens } from "./folder-tokens.js";
export { type Issue, MAX_ISSUE_BYTES, parseIssue } from "./issue.js";
export { type CompletenessOptions, type Content, SOON_MS } from "./judging.js";
export {
  DEFAULT_LIMITS,
  type Limits,
  MAX_ENTRIES,
  MAX_MANIFEST_BYTES,
  MAX_TOTAL_BYTES,
} from "./limits.js";
export { type FolderEntry, type Listing, type ListOptions, listFolder } from "./list-folder.js";
export {
  FORMAT_VERSION,
  formatManifest,
  isNewer,
  type ManifestOptions,
  manifestFindings,
  parseManifest,
  readManifest,
  writeManifest,
} from "./manifest.js";
export { type FixPlan, mechanicalFixes } from "./mechanical-fixes.js";
export { type Conflict, type Merged, type MergedFile, type MergeOptions, mergeContents } from "./merge.js";
export { type Bundle, type BundleEntry, type OpenOptions, openBundle, type RepackOptions } from "./open-bundle.js";
export {
  contentDigest,
  hashEntries,
  type Observer,
  type Packed,
  type PackOptions,
  type PackProgress,
  packFolder,
} from "./pack-folder.js";
export { byBytes, isObeyed, MANIFEST_NAME, pathProblem, QUARANTINE } from "./safe-path.js";
export { newBundleId, type SetOptions, setField } from "./set-field.js";
export {
  type Part,
  partManifest,
  SplitPlan,
  type SplitRecord,
  splitByCount,
  splitByFolder,
  splitByPlan,
} from "./split.js";
export { type Beginning, newManifest, outline } from "./template.js";
export { estimateTokens, isText } from "./tokens.js";
export { isCompleteTree, judgeTree, treeRows } from "./tree.js";
export { type Unpacked, type UnpackOptions, type UnpackProgress, unpackBundle } from "./unpack-bundle.js";
