import { createRequire } from "node:module";

/** The addon as npm installed it. A single-file executable carries the one of its platform instead: see scripts. */
export const loadAddon = (): unknown => createRequire(import.meta.url)("fs-native-extensions");
