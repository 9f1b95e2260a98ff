import type { Entry } from "../command.js";

export const bundleEntries: readonly Entry[] = [];
