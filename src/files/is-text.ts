/** A NUL among the first bytes is how every tool tells binary files apart. */
export function isText(bytes: Uint8Array): boolean {
  return bytes.subarray(0, 8_000).indexOf(0) === -1;
}
