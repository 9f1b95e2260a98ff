// Lines of a text that hold some words, whatever their case.
import type { LineFound } from "./model.js";

const MOST_IN_FILE = 5;

export function linesWith(text: string, words: string, side: number, path: string): LineFound[] {
  const wanted = words.toLowerCase();
  if (wanted === "" || !text.toLowerCase().includes(wanted)) return [];
  const found: LineFound[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (!line.toLowerCase().includes(wanted)) continue;
    found.push({ side, path, line: index + 1, text: line.trim().slice(0, 200) });
    if (found.length >= MOST_IN_FILE) break;
  }
  return found;
}
