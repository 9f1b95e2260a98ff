/** One value per line; what is none is left out. */
export function jsonLines<T>(bytes: Uint8Array | undefined): T[] {
  const lines = Buffer.from(bytes ?? new Uint8Array())
    .toString("utf8")
    .split("\n");
  return lines.flatMap((line) => {
    try {
      const value: unknown = line === "" ? null : JSON.parse(line);
      return typeof value === "object" && value !== null ? [value as T] : [];
    } catch {
      return [];
    }
  });
}
