// Names as the disk has them. A name that is not UTF-8 would be lost as a string: each of its bytes beyond ASCII becomes a
// lone surrogate, as Python does it, and is turned back before the disk is asked.

/** A name from its bytes. */
export function nameFrom(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  if (Buffer.from(text, "utf8").equals(bytes)) return text;
  return [...bytes].map((byte) => String.fromCharCode(byte < 0x80 ? byte : 0xdc00 + byte)).join("");
}

/** What to ask the disk for. */
export function onDisk(path: string): string | Buffer {
  if (!/[\udc80-\udcff]/u.test(path)) return path;
  const parts = path.split(/([\udc80-\udcff])/u);
  return Buffer.concat(
    parts.map((part) =>
      /^[\udc80-\udcff]$/u.test(part) ? Buffer.from([part.charCodeAt(0) & 0xff]) : Buffer.from(part),
    ),
  );
}

/** An id is opaque and may hold anything; a file name may not. */
export function safeName(id: string): string {
  return /^[\w-]{1,100}$/.test(id) ? id : `id-${Buffer.from(id).toString("hex").slice(0, 120)}`;
}

/** Whether a name is no UTF-8, and so none that a bundle can hold. */
export const isUnnamed = (path: string): boolean => /[\udc80-\udcff]/u.test(path);

/** For people: what is no UTF-8 is shown as such. */
export const shownName = (path: string): string => path.replace(/[\udc80-\udcff]/gu, "\ufffd");
