import type { BuildOptions } from "esbuild";

export const root: string;
export const version: string;
export const shared: BuildOptions;
export const requireForPackages: { readonly js: string };
export const faces: Readonly<Record<string, string>>;
export const programs: BuildOptions;
export const builds: readonly BuildOptions[];
