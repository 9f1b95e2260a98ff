/** One object per row, keyed by the names in the first line. */
export function parseCsv(_text) {
  throw new Error("not written yet");
}
