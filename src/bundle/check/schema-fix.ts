// The command that mends one field of a manifest, as near as can be told to what its author meant.
import { shellWord } from "../../errors.js";
import { FORMAT_VERSION } from "../manifest/manifest.js";
import type { Report } from "./report.js";

/** `path` is a dotted field of the manifest or a file of the bundle; `words` is what is wrong with it. */
export function schemaFix(report: Report, path: string, words: string): string {
  const { manifest, content, command, edit } = report;
  if (content.files.has(path)) return edit(path);
  const segments = path.split(".");
  if (!segments.every((segment) => /^(?:[a-z_]+|\d+)$/.test(segment))) return edit("nutshell.json");
  const given = segments.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], manifest);
  const value = valueMeant(report, { path, words, given });
  if (value !== null) return command(`set ${path} ${shellWord(value)}`);
  // A row without its name is no row.
  const row = words === "must not be empty" && /^\d+$/.test(segments.at(-2) ?? "");
  return command(`set ${(row ? segments.slice(0, -1) : segments).join(".")} --unset`);
}

interface Wrong {
  readonly path: string;
  readonly words: string;
  readonly given: unknown;
}

function valueMeant({ manifest, options }: Report, { path, words, given }: Wrong): string | null {
  if (path === "nutshell_version") return FORMAT_VERSION;
  if (path === "id") return idMeant(given);
  if (path === "request_id" && manifest.bundle_type === "delivery") return manifest.parent_id ?? "<id of the request>";
  const choices = /^must be one of (.+)$/.exec(words)?.[1]?.split(", ");
  if (choices !== undefined) return choiceMeant(given, choices);
  if (words.startsWith("must be a time")) return timeMeant(given, path, options.now);
  const bound = /^must be at (?:least|most) ([\d.]+)$/.exec(words)?.[1];
  return bound === undefined ? null : numberMeant(given, bound, words);
}

function idMeant(given: unknown): string {
  const letters = String(given)
    .replaceAll(/[^0-9A-Za-z]+/g, "-")
    .replaceAll(/^(?:nut)?-+|-+$/g, "");
  return `nut-${letters.slice(0, 60) || "task"}`;
}

/** What somebody meant who wrote "High". Who cannot be understood has claimed nothing. */
function choiceMeant(given: unknown, choices: readonly string[]): string {
  const meant = choices.find((choice) => choice === String(given).trim().toLowerCase());
  return meant ?? choices.find((choice) => choice === "unknown" || choice === "partial") ?? choices[0]!;
}

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;

export const isoSeconds = (time: number): string => `${new Date(time).toISOString().slice(0, 19)}Z`;

/** A day alone is read as its beginning; what cannot be read ends in a week, or is now. */
function timeMeant(given: unknown, path: string, now: Date): string {
  const time = Date.parse(String(given));
  if (!Number.isNaN(time)) return isoSeconds(time);
  return isoSeconds(now.getTime() + (path.endsWith("expires_at") ? WEEK_MS : 0));
}

/** Somebody who wrote 35 where at most 1 is meant wrote a percentage. */
function numberMeant(given: unknown, bound: string, words: string): string {
  const isShare = words === "must be at most 1" && typeof given === "number" && given <= 100;
  return isShare ? String((given as number) / 100) : bound;
}
