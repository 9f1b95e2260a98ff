export { controlsFor, unaltered } from "./controls.js";
export { type StandIn, standIns } from "./stand-ins.js";
export { type SuppliedControl, suppliedControls } from "./supplied.js";
