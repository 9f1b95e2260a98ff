import type { Entry } from "../command.js";

export const stateEntries: readonly Entry[] = [];
