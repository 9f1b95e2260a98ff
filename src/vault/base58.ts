// base58btc, for peer ids only: inputs are tens of bytes, so the quadratic textbook form is the right one.

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

export function base58Encode(bytes: Uint8Array): string {
  let value = 0n;
  for (const byte of bytes) value = value * 256n + BigInt(byte);
  let text = "";
  for (; value > 0n; value /= 58n) text = ALPHABET[Number(value % 58n)] + text;
  for (let i = 0; i < bytes.length && bytes[i] === 0; i += 1) text = `1${text}`;
  return text;
}

/** null when the text holds a character that is not base58. */
export function base58Decode(text: string): Uint8Array | null {
  let value = 0n;
  for (const letter of text) {
    const digit = ALPHABET.indexOf(letter);
    if (digit < 0) return null;
    value = value * 58n + BigInt(digit);
  }
  const bytes: number[] = [];
  for (; value > 0n; value /= 256n) bytes.unshift(Number(value % 256n));
  for (let i = 0; i < text.length && text[i] === "1"; i += 1) bytes.unshift(0);
  return Uint8Array.from(bytes);
}
