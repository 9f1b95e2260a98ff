export { type Check, type CheckPlan, planChecks } from "./checks.js";
export type { AcceptanceCredential, CredentialReader } from "./credential.js";
export { junitXml } from "./junit.js";
export {
  ARTIFACTS,
  applyChanges,
  artifactPath,
  type Change,
  compareTrees,
  copyTree,
  type Delivered,
  isResult,
  listTree,
  rebuildTree,
  treeDigest,
  writeArtifacts,
} from "./result-tree.js";
export {
  type AcceptanceEvent,
  type AcceptanceOptions,
  type AcceptanceReport,
  type CheckResult,
  type Counts,
  runAcceptance,
  testsDigest,
} from "./run-acceptance.js";
