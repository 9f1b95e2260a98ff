declare const __VERSION__: string | undefined;

/** The package's version: put in by the build, read from package.json only when sources run unbundled (tests). */
export const VERSION: string = typeof __VERSION__ === "string" ? __VERSION__ : "0.0.0-source";

/** The version of what `--json` prints. Within one, fields are added, never renamed, retyped or taken away. */
export const JSON_VERSION = 1;
