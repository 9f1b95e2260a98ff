// The rules of the economy, checked here because the daemon burns the fee before it notices what is wrong.
import type { Finding } from "../errors.js";
import { NutError, shellWord } from "../errors.js";
import { MAX_BUNDLE_BYTES } from "./client.js";

export const DEFAULT_REWARD = 100;
const MINIMUM_REWARD = 100;
/** From here on the daemon can no longer read its own task table. */
const UNREADABLE_REWARD = 1_000_000;

export interface Cost {
  readonly reward: number;
  readonly fee: number;
  /** Held until the task ends: the reward, or 1 for a help-wanted task. */
  readonly frozen: number;
  readonly total: number;
}

export function costOf(reward: number): Cost {
  const fee = Math.floor((reward * 5) / 100);
  const frozen = reward === 0 ? 1 : reward;
  return { reward, fee, frozen, total: fee + frozen };
}

/** The flag, then the manifest, then 100. A bare number is read as the amount. */
export function resolveReward(flag: string | undefined, clawnet: unknown, dir = "."): number {
  if (flag !== undefined) return readAmount(flag, "--reward");
  const reward = isObject(clawnet) ? clawnet.reward : undefined;
  if (reward === undefined || reward === null) return DEFAULT_REWARD;
  if (!isObject(reward)) return readAmount(reward, "extensions.clawnet.reward");
  const currency = reward.currency ?? "shells";
  if (typeof currency !== "string" || !/^shells?$/i.test(currency)) {
    throw new NutError(
      "MARKET_REWARD",
      `extensions.clawnet.reward.currency is "${String(currency)}"; ClawNet pays in shells only`,
      {
        hint: `nutshell set extensions.clawnet.reward.currency shells --dir ${shellWord(dir)}`,
      },
    );
  }
  return reward.amount === undefined ? DEFAULT_REWARD : readAmount(reward.amount, "extensions.clawnet.reward.amount");
}

function readAmount(value: unknown, where: string): number {
  const amount = typeof value === "number" ? value : /^\d+$/.test(String(value)) ? Number(value) : Number.NaN;
  if (!Number.isSafeInteger(amount) || amount < 0 || (amount > 0 && amount < MINIMUM_REWARD)) {
    throw new NutError(
      "MARKET_REWARD",
      `${where} is ${String(value)}; a reward is 0 or a whole number of shells from ${MINIMUM_REWARD} up`,
      {
        hint: "--reward 100",
      },
    );
  }
  if (amount >= UNREADABLE_REWARD) {
    throw new NutError(
      "MARKET_REWARD",
      `${where} is ${amount}; the daemon cannot read back rewards of a million shells or more`,
      {
        hint: "--reward 999999",
      },
    );
  }
  return amount;
}

export interface PreflightFacts {
  readonly cost: Cost;
  readonly balance: number;
  readonly bytes: number;
  readonly expiresAt?: string | undefined;
  readonly now: Date;
  /** The request's folder, as typed. */
  readonly dir: string;
  /** A command line for the daemon that was asked. */
  readonly line: (words: string) => string;
}

/** Everything that would go wrong after the first request. Errors stop the publication, warnings are shown. */
export function preflight({ cost, balance, bytes, expiresAt, now, dir, line }: PreflightFacts): Finding[] {
  const findings: Finding[] = [];
  const add = (severity: Finding["severity"], code: string, path: string, message: string, fix?: string) =>
    findings.push({ severity, code, path, message, ...(fix === undefined ? {} : { fix }) });
  if (balance < cost.total) {
    const parts = cost.reward === 0 ? "1 shell is held" : `${cost.reward} + fee ${cost.fee}`;
    add(
      "error",
      "balance_too_low",
      "reward",
      `this needs ${cost.total} shells (${parts}), the balance is ${balance}`,
      line("balance"),
    );
  }
  if (bytes > MAX_BUNDLE_BYTES) {
    add(
      "error",
      "bundle_too_large",
      "bundle",
      `the bundle has ${bytes} bytes; the daemon takes ${MAX_BUNDLE_BYTES}`,
      `nutshell split ${shellWord(dir)} -n 2`,
    );
  }
  if (cost.reward === 0) add("warning", "help_wanted", "reward", "reward 0 costs 1 shell: the daemon turns it into 1");
  if (expiresAt !== undefined) {
    const deadline = new Date(expiresAt);
    if (Number.isNaN(deadline.getTime())) add("error", "bad_deadline", "expires_at", `"${expiresAt}" is not a date`);
    else if (deadline <= now)
      add(
        "error",
        "deadline_passed",
        "expires_at",
        `the deadline ${expiresAt} has passed`,
        `nutshell set expires_at '<date>' --dir ${shellWord(dir)}`,
      );
  }
  add(
    "warning",
    "settles_early",
    "deadline",
    "the daemon settles a task nobody takes after 2 h 30 min, whatever its deadline",
  );
  return findings;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
