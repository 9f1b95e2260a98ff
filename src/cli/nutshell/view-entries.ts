import type { Entry } from "../command.js";

export const viewEntries: readonly Entry[] = [];
