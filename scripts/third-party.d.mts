import type { Metafile } from "esbuild";

export interface Package {
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

export interface DescribedPackage extends Package {
  readonly id: string;
  readonly author?: string;
  readonly text: string;
}

export function bundledPackages(metafiles: readonly Metafile[], root: string): DescribedPackage[];
export function notices(packages: readonly DescribedPackage[]): string;
export function billOfMaterials(packages: readonly Package[], own: Package): string;
