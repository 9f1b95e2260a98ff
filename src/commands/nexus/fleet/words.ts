// Times, limits and labels as they are typed.
import { NutError } from "../../../errors.js";
import { Label } from "../../../schema/fleet.js";

const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

export function readDuration(
  flag: string,
  text: string,
  { least, most }: { readonly least: number; readonly most: number },
): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)([smhd])$/.exec(text) ?? [];
  const ms = amount === undefined ? Number.NaN : Math.round(Number(amount) * UNITS[unit as keyof typeof UNITS]);
  if (ms >= least && ms <= most) return ms;
  const fits = ["30s", "2m", "12h", "7d"].filter((word) => between(word, least, most));
  throw new NutError("USAGE", `${flag}: "${text}" is no time between ${inWords(least)} and ${inWords(most)}`, {
    hint: `${flag} ${fits.join(", or ")}`,
  });
}

const between = (word: string, least: number, most: number): boolean => {
  const ms = Number.parseInt(word, 10) * UNITS[word.at(-1) as keyof typeof UNITS];
  return ms >= least && ms <= most;
};

/** In the largest unit that comes out even. */
function inWords(ms: number): string {
  const [unit, size] = Object.entries(UNITS).findLast(([, one]) => ms % one === 0) ?? ["s", 1_000];
  return `${ms / size}${unit}`;
}

/** `jobs=200,tokens=5M,cost=40`. */
export function readLimits(words: readonly string[]): { jobs?: number; tokens?: number; cost_usd?: number } {
  const limits: { jobs?: number; tokens?: number; cost_usd?: number } = {};
  for (const part of words.flatMap((word) => word.split(","))) {
    const [, name, amount, unit = ""] = /^(jobs|tokens|cost)=\$?(\d+(?:\.\d+)?)([kM]?)$/.exec(part.trim()) ?? [];
    if (name === undefined || !(Number(amount) > 0)) {
      throw new NutError("USAGE", `--budget does not understand "${part.trim()}"`, {
        hint: "nexus fleet init --budget jobs=200,tokens=5M,cost=40",
      });
    }
    const value = Number(amount) * { "": 1, k: 1_000, M: 1_000_000 }[unit as "" | "k" | "M"];
    limits[name === "cost" ? "cost_usd" : (name as "jobs" | "tokens")] = value;
  }
  return limits;
}

export function readLabels(words: readonly string[]): string[] {
  const labels = words.flatMap((word) => word.split(",")).map((word) => word.trim());
  const wrong = labels.find((label) => !Label.safeParse(label).success);
  if (wrong === undefined) return [...new Set(labels)].sort();
  throw new NutError("USAGE", `"${wrong}" is no label: small letters, digits, - _ = and no more than 48 of them`, {
    hint: "--label gpu --label region=eu",
  });
}
