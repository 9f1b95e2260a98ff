// What a run may spend. `--budget time=10m,tokens=200k,cost=2.5` and the defaults behind it.
import { NutError } from "../../errors.js";
import type { Budget } from "../../schema/run.js";

export const DEFAULT_BUDGET: Budget = { agentMs: 60 * 60_000, stallMs: 10 * 60_000, loop: 12 };

const KEYS: Readonly<Record<string, { field: keyof Budget; read: (text: string) => number | null }>> = {
  time: { field: "timeMs", read: readDuration },
  tokens: { field: "tokens", read: readCount },
  cost: { field: "costUsd", read: readMoney },
  agent: { field: "agentMs", read: readDuration },
  stall: { field: "stallMs", read: readDuration },
  loop: { field: "loop", read: readCount },
  wait: { field: "waitMs", read: readDuration },
};

export function parseBudget(words: readonly string[], base: Budget = DEFAULT_BUDGET): Budget {
  const budget: Record<string, number> = { ...base };
  for (const part of words.flatMap((word) => word.split(","))) {
    const [name = "", value = ""] = part.trim().split("=", 2);
    const key = Object.hasOwn(KEYS, name) ? KEYS[name] : undefined;
    const amount = key?.read(value.trim()) ?? null;
    if (key === undefined || amount === null || !(amount > 0)) {
      throw new NutError("USAGE", `--budget does not understand "${part.trim()}"`, {
        hint: "the same, with: --budget time=10m,tokens=200k,cost=2.5",
        data: { keys: Object.keys(KEYS) },
      });
    }
    budget[key.field] = amount;
  }
  return budget as unknown as Budget;
}

function readDuration(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text);
  if (match === null) return null;
  const unit = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }[match[2] as "ms" | "s" | "m" | "h"];
  return Number(match[1]) * unit;
}

function readCount(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)([kM]?)$/.exec(text);
  if (match === null) return null;
  return Math.round(Number(match[1]) * { "": 1, k: 1_000, M: 1_000_000 }[match[2] as "" | "k" | "M"]);
}

function readMoney(text: string): number | null {
  return /^\$?\d+(\.\d+)?$/.test(text) ? Number(text.replace("$", "")) : null;
}
