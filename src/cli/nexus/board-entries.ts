import type { Entry } from "../command.js";

export const boardEntries: readonly Entry[] = [];
