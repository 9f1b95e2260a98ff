import type { Entry } from "../command.js";

export const runEntries: readonly Entry[] = [];
