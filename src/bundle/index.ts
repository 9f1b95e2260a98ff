// Bundles: bytes ⇄ files. The public face of `nutcracker/bundle`.
export { type Finding, NutError } from "../errors.js";
export { byBytes, isText } from "../files/index.js";
export type { Manifest, TreeRow } from "../schema/manifest.js";
export {
  assess,
  type Completeness,
  contextTokens,
  DEFAULT_CONTEXT_WINDOW,
  type Passed,
} from "./check/completeness.js";
export { DEFAULT_CRITERIA, resolveReference } from "./check/completeness-references.js";
export { contentFindings, type JudgedContent, manifestReferences, type Reference } from "./check/content-findings.js";
export { type FixPlan, mechanicalFixes } from "./check/mechanical-fixes.js";
export { type CompletenessOptions, type Content, PLACEHOLDER, SOON_MS } from "./check/report.js";
export { LEVELS, type Level } from "./compression/compressor.js";
export type { Compression } from "./compression/decompress.js";
export {
  DEFAULT_LIMITS,
  type Limits,
  MAX_ENTRIES,
  MAX_MANIFEST_BYTES,
  MAX_TOTAL_BYTES,
} from "./format/limits.js";
export { asidePath, isObeyed } from "./format/obeyed.js";
export { MANIFEST_NAME, pathProblem } from "./format/safe-path.js";
export { type Issue, MAX_ISSUE_BYTES, parseIssue } from "./manifest/issue.js";
export {
  FORMAT_VERSION,
  formatManifest,
  isNewer,
  type ManifestOptions,
  manifestFile,
  manifestFindings,
  parseManifest,
  readManifest,
  writeManifest,
} from "./manifest/manifest.js";
export { newBundleId, type SetOptions, setField } from "./manifest/set-field.js";
export { type Beginning, newManifest, outline } from "./manifest/template.js";
export { estimateTokens } from "./manifest/tokens.js";
export { isCompleteTree, judgeTree, treeRows, withNotedRows } from "./manifest/tree.js";
export { type Conflict, type Merged, type MergedFile, type MergeOptions, mergeContents } from "./parts/merge.js";
export {
  type CriterionText,
  criteriaOfParts,
  type Part,
  partManifest,
  SplitPlan,
  type SplitRecord,
  splitByCount,
  splitByFolder,
  splitByPlan,
} from "./parts/split.js";
export {
  type Attached,
  canAttach,
  EarlyCopy,
  MAX_ATTACHED_BYTES,
  readAttached,
  writeAttached,
} from "./read/attached.js";
export { type ContentEntry, type ContentOptions, type OpenedContent, openContent } from "./read/content.js";
export { type Difference, type DiffOptions, diffContents, diffManifests } from "./read/diff.js";
export { type Bundle, type BundleEntry, type OpenOptions, openBundle, type RepackOptions } from "./read/open-bundle.js";
export { type Unpacked, type UnpackOptions, type UnpackProgress, unpackBundle } from "./read/unpack-bundle.js";
export { isBuildOutput } from "./write/build-outputs.js";
export type { Seal } from "./write/bundle-writer.js";
export { folderTokens } from "./write/folder-tokens.js";
export { type FolderEntry, LEFT_REASONS, type Listing, type ListOptions, listFolder } from "./write/list-folder.js";
export { type Looker, type Observer, type Piece, pieceByPiece } from "./write/look.js";
export {
  contentDigest,
  hashEntries,
  type Packed,
  type PackOptions,
  type PackProgress,
  packFolder,
} from "./write/pack-folder.js";
