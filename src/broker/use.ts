// The record of uses: which credential, by whom, for what, allowed or not and why. Never a value, a query or a body.

/** A type and not an interface, so that it fits open records. */
export type BrokerUse = {
  readonly name: string;
  readonly at: string;
  /** The agent or program it was let in for. */
  readonly by: string;
  /** `GET https://api.example.org/v1/users`, `SELECT … FROM users`. */
  readonly what: string;
  readonly allowed: boolean;
  /** Why not; or what went wrong on the way. */
  readonly why?: string;
  readonly status?: number;
  /** Out to the service, and back. */
  readonly sent: number;
  readonly received: number;
};

const LONGEST = 300;

export const shortWhat = (what: string): string =>
  // What an agent asked for goes to terminals and models.
  [...what.replace(/[\p{Cc}\p{Cf}]+/gu, " ")].slice(0, LONGEST).join("");
