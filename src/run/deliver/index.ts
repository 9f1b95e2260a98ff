// Loaded while agents work, who wait for none of it.
import { leakScanner } from "../../vault/index.js";

export { acceptRun, addRepair, addReview } from "./accept-run.js";
export { deliver, isDelivered } from "./deliver.js";

/** What a delivery would load only on its way. */
export async function loadRules(): Promise<void> {
  await leakScanner();
}
