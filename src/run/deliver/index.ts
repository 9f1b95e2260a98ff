// Loaded when all work is done: agents wait for none of it.
export { acceptRun, addRepair, addReview } from "./accept-run.js";
export { deliver, isDelivered } from "./deliver.js";
