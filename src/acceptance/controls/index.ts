export { type Assertion, findAssertions } from "./assertions.js";
export { controlsFor } from "./controls.js";
export { type StandIn, standIns } from "./stand-ins.js";
export { type SuppliedControl, suppliedControls } from "./supplied.js";
