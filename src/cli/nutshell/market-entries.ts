import type { Entry } from "../command.js";

export const marketEntries: readonly Entry[] = [];
