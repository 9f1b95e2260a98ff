// Bytes of one kind after another: a cheap look before an expression is asked.

/** Which bytes are of a kind: 1 for those whose character the pattern matches. */
export function bytesLike(pattern: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (pattern.test(String.fromCharCode(byte)) ? 1 : 0));
}

/** Past the bytes of a kind, `most` of them at most. */
export function skip(bytes: Uint8Array, from: number, most: number, kind: Uint8Array): number {
  const end = Math.min(bytes.length, from + most);
  let at = from;
  while (at < end && kind[bytes[at]!] === 1) at += 1;
  return at;
}
