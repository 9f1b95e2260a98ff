/** As much of Bun's foreign functions as we call. */
declare module "bun:ffi" {
  interface Signature {
    readonly args: readonly ("i32" | "ptr")[];
    readonly returns: "i32";
  }
  export function dlopen<Name extends string>(
    library: string,
    symbols: Readonly<Record<Name, Signature>>,
  ): { readonly symbols: Readonly<Record<Name, (...args: (number | Uint8Array)[]) => number>> };
}
