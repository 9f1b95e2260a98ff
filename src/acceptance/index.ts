export {
  ARTIFACTS,
  applyChanges,
  artifactPath,
  copyTree,
  type Delivered,
  deliverable,
  isResult,
  listTree,
  type ResultChange as Change,
  rebuildTree,
  resultChanges as compareTrees,
  treeDigest,
  writeArtifacts,
} from "../trees/result-tree.js";
export { type Check, type CheckPlan, planChecks } from "./checks.js";
export { buildCleanTree, type CleanTree, testsDigest } from "./clean-tree.js";
export type { AcceptanceCredential, CredentialReader } from "./credential.js";
export { type Claim, type DeliveryFacts, type Evidence, type Judgement, judgeDelivery } from "./judge-delivery.js";
export { junitXml } from "./junit.js";
export {
  type AcceptanceEvent,
  type AcceptanceOptions,
  type AcceptanceReport,
  type CheckResult,
  type Counts,
  runAcceptance,
} from "./run-acceptance.js";
