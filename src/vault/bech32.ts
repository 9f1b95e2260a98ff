// bech32, for age's own secret keys only. Nothing here ever repeats the text: it is a secret.

const ALPHABET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const GENERATORS = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
const CHECKSUM_DIGITS = 6;

/** The bytes behind `prefix` and "1"; null when the text is misspelt. Both are read in upper case, as secret keys are written. */
export function bech32Decode(text: string, prefix: string): Buffer | null {
  if (!text.startsWith(`${prefix}1`)) return null;
  const digits = Array.from(text.slice(prefix.length + 1), digitOf);
  if (digits.length < CHECKSUM_DIGITS || digits.includes(-1)) return null;
  const letters = Array.from(prefix.toLowerCase(), (letter) => letter.charCodeAt(0));
  const spread = [...letters.map((code) => code >> 5), 0, ...letters.map((code) => code & 31)];
  return checksum([...spread, ...digits]) === 1 ? joinBits(digits.slice(0, -CHECKSUM_DIGITS)) : null;
}

const digitOf = (letter: string): number => (/[A-Z0-9]/.test(letter) ? ALPHABET.indexOf(letter.toLowerCase()) : -1);

function checksum(digits: readonly number[]): number {
  let sum = 1;
  for (const digit of digits) {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ digit;
    for (const [bit, generator] of GENERATORS.entries()) if (((top >>> bit) & 1) === 1) sum ^= generator;
  }
  return sum;
}

/** Five bits each become eight; what is left over is less than a digit, and zero. */
function joinBits(digits: readonly number[]): Buffer | null {
  const bytes: number[] = [];
  let [held, bits] = [0, 0];
  for (const digit of digits) {
    held = (held << 5) | digit;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push(held >>> bits);
    held &= (1 << bits) - 1;
  }
  return bits < 5 && held === 0 ? Buffer.from(bytes) : null;
}
