import type { Entry } from "../command.js";

export const catalogEntries: readonly Entry[] = [];
