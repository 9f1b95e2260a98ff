import type { Entry } from "../command.js";

export const hostEntries: readonly Entry[] = [];
