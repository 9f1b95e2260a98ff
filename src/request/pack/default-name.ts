const MAX_CHARACTERS = 60;

/** A file name made of a title: letters, digits and dashes, so never a path, never an option, never hidden. */
export function defaultName(title: string): string {
  const words = title
    .normalize("NFC")
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, "-");
  const slug = [...words]
    .slice(0, MAX_CHARACTERS)
    .join("")
    .replace(/^-+|-+$/g, "");
  return `${slug === "" ? "bundle" : slug}.nut`;
}
