// What a hook process loads only when its short way does not suffice. The build makes this a file of its own, so that
// the gate's file holds nothing of it.
export { readConfig } from "../catalog/index.js";
export { rememberTree } from "./agent-effects.js";
export { fire } from "./lifecycle.js";
