import type { Entry } from "../command.js";

export const credentialsEntries: readonly Entry[] = [];
