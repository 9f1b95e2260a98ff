export { askVersion, type VersionQuestion, versionIn } from "./ask-version.js";
export { type Child, type ChildEnd, type ChildOptions, startChild } from "./child.js";

export { daemonCovers } from "./daemon-places.js";
export { homeDwellers } from "./descendants.js";
export { type Environment, findProgram } from "./find-program.js";
export { canLayer, inOverlay, type LayeredTree, layerFolders, overlayPlace } from "./in-overlay.js";
export { isInner } from "./inner-address.js";
export { type HowKnown, howKnown, KNOWN_VERSIONS, type KnownVersions } from "./known-versions.js";
export { sweepLeftovers } from "./leftovers.js";
export { DEFAULT_LIMITS, type Limits } from "./limits.js";
export { readLines } from "./lines.js";
export { placeMounts } from "./place-mounts.js";
export { beginSandbox } from "./prepared-system.js";
export {
  type Captured,
  type ChildResult,
  type ChildRunOptions,
  runChild,
} from "./run-child.js";
export {
  type Bwrap,
  bwrapAvailable,
  findBwrap,
  type Mount,
  type Sandbox,
  sandboxCommand,
} from "./sandbox.js";
export { sandboxHealth } from "./sandbox-remedy.js";
export { seatbeltProfile } from "./seatbelt.js";
export { AS_ENGINE, type Engine, javascriptEngine, STANDALONE, STOP_WITH_INPUT } from "./self.js";
export { turns } from "./turns.js";
export { isProgramPlace, neverShow, visiblePath } from "./visible-system.js";
