// Wrong tests that the publisher supplies: right work must fail them.
import type { Control } from "../model.js";

export interface SuppliedControl {
  readonly name: string;
  /** Path in the tree → path in the request. */
  readonly files: Readonly<Record<string, string>>;
}

/** A control whose files are not there is left out. */
export function suppliedControls(
  controls: readonly SuppliedControl[],
  read: (path: string) => Uint8Array | null,
): readonly Control[] {
  return controls.flatMap(({ name, files }) => {
    const found = Object.entries(files).map(([path, from]) => [path, read(from)] as const);
    if (found.length === 0 || found.some(([, content]) => content === null)) return [];
    return [{ name: `the wrong test ${name}`, files: new Map(found as [string, Uint8Array][]), mustFail: null }];
  });
}
