export {
  ARTIFACTS,
  applyChanges,
  artifactPath,
  copyTree,
  type Delivered,
  deliverable,
  deliveredFiles,
  HIDDEN_FILE,
  isResult,
  listTree,
  type ResultChange as Change,
  rebuildTree,
  resultChanges as compareTrees,
  treeDigest,
  writeArtifacts,
} from "../trees/result-tree.js";
export { type CleanTree, cleanTreeOf, testsDigest } from "./clean-tree.js";
export type { AcceptanceCredential, CredentialReader } from "./credential.js";
export { withDeliveredEvidence, withEvidence } from "./evidence.js";
export { type HiddenReport, type HiddenResult, isBacked, runHidden, verdictWith } from "./hidden.js";
export { type Installed, type Installer, untouchedFiles } from "./install/installed.js";
export { installedIn, makeLayer } from "./install/make-layer.js";
export { type Inputs, inputsOf, RECIPES, type TreeFiles } from "./install/recipes.js";
export {
  type Claim,
  type DeliveryFacts,
  type Evidence,
  type Judgement,
  judgeDelivery,
} from "./judge-delivery.js";
export { junitXml } from "./junit.js";
export type { Check, CheckPlan, Weakness } from "./model.js";
export { planChecks } from "./plan/checks.js";
export {
  type Constraints,
  type PathRule,
  readConstraints,
  type Violation,
  violations,
} from "./plan/constraints.js";
export { type InstallStep, installSteps } from "./plan/install-steps.js";
export { pathAllowed, pathsOverlap } from "./plan/paths.js";
export { isOutsideSubject, type Outside } from "./plan/subject.js";
export { CACHES } from "./room/room-tree.js";
export { TREE } from "./room/rooms.js";
export {
  type AcceptanceEvent,
  type AcceptanceOptions,
  type AcceptanceReport,
  type CheckResult,
  runAcceptance,
} from "./run-acceptance.js";
export {
  type CheckStrength,
  measureStrength,
  type StrengthReport,
  subjectPaths,
} from "./strength.js";
export type { Counts } from "./verdict.js";
