/** Formats that hold pixels and nothing else. SVG is a document that can hold script: it is shown as text. */
const IMAGE_TYPES: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  avif: "image/avif",
  bmp: "image/bmp",
};

/** The MIME type a file is shown as, or undefined when it is no picture. */
export function imageType(path: string): string | undefined {
  const ending = path.split(".").at(-1)!.toLowerCase();
  return Object.hasOwn(IMAGE_TYPES, ending) ? IMAGE_TYPES[ending] : undefined;
}
