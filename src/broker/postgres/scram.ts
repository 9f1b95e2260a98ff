// SCRAM-SHA-256 as a client (RFC 5802, 7677): the password is proven, not sent, and the server proves that it knows it too.
import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

const derive = promisify(pbkdf2);
const hmac = (key: Uint8Array, text: string): Buffer => createHmac("sha256", key).update(text).digest();

/** More would keep us busy for whoever answers. */
const MOST_ROUNDS = 1_000_000;

export class Scram {
  readonly first: string;
  readonly #bare: string;
  readonly #nonce = randomBytes(18).toString("base64");
  #signature: Buffer | null = null;

  constructor() {
    this.#bare = `n=,r=${this.#nonce}`;
    this.first = `n,,${this.#bare}`;
  }

  /** Throws when what the server says does not belong to what we said. */
  async answer(serverFirst: string, password: string): Promise<string> {
    const { r: nonce = "", s: salt = "", i: rounds = "" } = attributes(serverFirst);
    const iterations = Number(rounds);
    if (!nonce.startsWith(this.#nonce) || nonce.length === this.#nonce.length || salt === "")
      throw new Error("the server's answer does not belong to our question");
    if (!Number.isInteger(iterations) || iterations < 1 || iterations > MOST_ROUNDS)
      throw new Error("the server asks for an impossible number of rounds");
    const salted = await derive(password.normalize("NFKC"), Buffer.from(salt, "base64"), iterations, 32, "sha256");
    const clientKey = hmac(salted, "Client Key");
    const bare = `c=biws,r=${nonce}`;
    const whole = `${this.#bare},${serverFirst},${bare}`;
    const signature = hmac(createHash("sha256").update(clientKey).digest(), whole);
    const proof = Buffer.from(clientKey.map((byte, index) => byte ^ signature[index]!));
    this.#signature = hmac(hmac(salted, "Server Key"), whole);
    return `${bare},p=${proof.toString("base64")}`;
  }

  /** Whether the server knows the password as well. */
  isProven(serverFinal: string): boolean {
    const { v: claimed = "" } = attributes(serverFinal);
    const bytes = Buffer.from(claimed, "base64");
    return this.#signature !== null && bytes.length === 32 && timingSafeEqual(bytes, this.#signature);
  }
}

const attributes = (text: string): Record<string, string> =>
  Object.fromEntries(text.split(",").map((part) => [part[0] ?? "", part.slice(2)]));
