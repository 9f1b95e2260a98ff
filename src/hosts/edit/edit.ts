// Changing a file that belongs to a person: what we add can be taken out again, everything else keeps its bytes.
export interface TextEdit {
  /** The text with our part in it, exactly once. `null` = the file does not exist yet. */
  add(text: string | null): string;
  /** Whether something of ours is in the text. */
  holds(text: string): boolean;
  /** The text without our part; null when nothing else was in it. What our part took the place of in `original` comes back. */
  remove(text: string, original?: string | null): string | null;
}
