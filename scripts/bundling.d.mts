import type { BuildOptions, Plugin } from "esbuild";

export const root: string;
export const manifest: { readonly name: string; readonly version: string; readonly license: string };
export const version: string;
export const shared: BuildOptions;
export const requireForPackages: { readonly js: string };
export const readLater: (names: readonly string[]) => Plugin;
export const faces: Readonly<Record<string, string>>;
export const programs: BuildOptions;
export const pages: BuildOptions;
export const builds: readonly BuildOptions[];
