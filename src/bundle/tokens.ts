/** How many tokens a model would make of this. An estimate: within a tenth for mixed source and prose. */
export function estimateTokens(content: Uint8Array | string): number {
  const bytes = typeof content === "string" ? Buffer.byteLength(content) : content.length;
  return Math.round(bytes / 3.8);
}
