// How a sealed bundle is known, for those who open none.
export const SEALED_MAGIC = Uint8Array.of(0x4e, 0x55, 0x54, 0x02);

/** Two copies are alive while the box is made: 256 MiB keeps a small machine out of trouble, and is 5 × what the market takes. */
export const SEALED_MAX_BYTES = 256 * 1024 * 1024;

export function isSealed(bytes: Uint8Array): boolean {
  return bytes.length >= SEALED_MAGIC.length && SEALED_MAGIC.every((byte, i) => bytes[i] === byte);
}
