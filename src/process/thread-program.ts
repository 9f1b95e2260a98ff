// Threads run programs of their own: one built file each, which starts sooner than many.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { STANDALONE } from "./self.js";

/** A thread's built program; null where there is none, as in a single file. Beside what was built, or built from here. */
export function threadProgram(name: string): string | null {
  if (STANDALONE) return null;
  const places = [`../${name}`, `../../dist/${name}`].map((place) => fileURLToPath(new URL(place, import.meta.url)));
  return places.find((place) => existsSync(place)) ?? null;
}
