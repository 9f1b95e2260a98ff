// SHA-256 of a short text, in plain words. A gate needs one for a folder's name at every call, and to load Node's own for it
// makes a gate 2 to 4 % slower (measured in turns on a quiet machine: 94 ms beside 96 ms), which is what is left to its limit.

/** The fractional parts of the cube roots (and below of the square roots) of the first primes, as FIPS 180-4 says. */
const [ROUNDS, START] = constantsOf();

export function shortDigest(text: string): string {
  const state = [...START];
  const bytes = padded(Buffer.from(text, "utf8"));
  for (let at = 0; at < bytes.length; at += 64) mix(state, bytes.subarray(at, at + 64));
  return state.map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

function padded(text: Buffer): Buffer {
  const whole = Buffer.alloc(Math.ceil((text.length + 9) / 64) * 64);
  text.copy(whole);
  whole[text.length] = 0x80;
  whole.writeBigUInt64BE(BigInt(text.length) * 8n, whole.length - 8);
  return whole;
}

const turn = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

function mix(state: number[], block: Buffer): void {
  const words = Array.from({ length: 16 }, (_, i) => block.readInt32BE(i * 4));
  for (let i = 16; i < 64; i += 1) {
    const [a, b] = [words[i - 15]!, words[i - 2]!];
    const low = turn(a, 7) ^ turn(a, 18) ^ (a >>> 3);
    const high = turn(b, 17) ^ turn(b, 19) ^ (b >>> 10);
    words[i] = (words[i - 16]! + low + words[i - 7]! + high) | 0;
  }
  let [a, b, c, d, e, f, g, h] = state as [number, number, number, number, number, number, number, number];
  for (let i = 0; i < 64; i += 1) {
    const chosen = (e & f) ^ (~e & g);
    const first = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + chosen + ROUNDS[i]! + words[i]!) | 0;
    const most = (a & b) ^ (a & c) ^ (b & c);
    const second = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + most) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) state[i] = (state[i]! + word) | 0;
}

function constantsOf(): [rounds: readonly number[], start: readonly number[]] {
  const primes: number[] = [];
  for (let n = 2; primes.length < 64; n += 1) if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  const fraction = (root: number): number => ((root - Math.floor(root)) * 2 ** 32) | 0;
  return [
    primes.map((prime) => fraction(Math.cbrt(prime))),
    primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime))),
  ];
}
