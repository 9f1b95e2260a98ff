// Paths as servers may read them. Whatever two servers could read differently is refused before it is compared: what we
// judged must be what is asked.

/** A declared path: `/users/{id}`, `/users/:id`, `/files/*`, `/files/**`. */
export interface PathRule {
  readonly text: string;
  fits(segments: readonly string[]): boolean;
}

/** `*` and a parameter stand for one segment, `**` at the end for any number of them. */
export function pathRule(written: string): PathRule {
  const text = written.startsWith("/") ? written : `/${written}`;
  const parts = text.split("/").slice(1);
  const open = parts.at(-1) === "**";
  const own = open ? parts.slice(0, -1) : parts;
  return {
    text,
    fits: (segments) =>
      (open ? segments.length >= own.length : segments.length === own.length) &&
      own.every((part, index) => {
        const segment = segments[index]!;
        if (part === "*" || /^(?::\w+|\{[^{}]*\})$/.test(part)) return segment !== "";
        return part.includes("*") ? globFits(part, segment) : part === segment;
      }),
  };
}

/** `report-*.csv` in one segment, without going back and forth. */
function globFits(glob: string, segment: string): boolean {
  const pieces = glob.split("*");
  const [first, last] = [pieces[0]!, pieces.at(-1)!];
  if (segment.length < first.length + last.length || !segment.startsWith(first) || !segment.endsWith(last))
    return false;
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = segment.indexOf(piece, at);
    if (found < 0 || found + piece.length > segment.length - last.length) return false;
    at = found + piece.length;
  }
  return true;
}

/** How often a server behind a server may decode once more. */
const ROUNDS = 3;

/** The segments of a path, decoded once; or why it is refused. A slash at the end is an empty last segment. */
export function readPath(path: string): { readonly segments: readonly string[] } | { readonly why: string } {
  if (!path.startsWith("/")) return { why: "the path must begin with /" };
  if (path.length > 8_192) return { why: "the path is too long" };
  if (/[^\x21-\x7e]/.test(path)) return { why: "the path holds characters that must be encoded" };
  if (/[\\#?]/.test(path)) return { why: "the path holds a backslash" };
  const raw = path.slice(1).split("/");
  if (raw.slice(0, -1).includes("")) return { why: "the path holds //, which servers read differently" };
  const segments: string[] = [];
  for (const segment of raw) {
    let decoded = segment;
    for (let round = 0; round < ROUNDS; round += 1) {
      const next = decodeOnce(decoded);
      if (next === null) return { why: "the path holds an encoding that is not one" };
      if (round === 0) segments.push(next);
      if (isOdd(next)) return { why: "the path holds dots or slashes in an encoding, which servers read differently" };
      if (next === decoded) break;
      decoded = next;
    }
    if (/%(?:25)*(?:2e|2f|5c)/i.test(decoded)) return { why: "the path is encoded too often" };
  }
  return { segments };
}

function decodeOnce(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/**
 * `.`, `..` and `..;x` lead elsewhere, also with spaces around them or in letters that only look like them; a slash, a
 * backslash or a NUL that appears by decoding does too.
 */
function isOdd(segment: string): boolean {
  const plain = segment.normalize("NFKC").replace(/[\p{Cf}\s]+/gu, "");
  if (plain !== "" && /^\.+(?:;.*)?$/.test(plain)) return true;
  // Another round would show what is written in letters that only look like others.
  if (plain !== segment && /%(?:25)*(?:2e|2f|5c)/i.test(plain)) return true;
  return [segment, plain].some((text) => /[/\\\p{Cc}?#]/u.test(text) || /\.\.;/.test(text));
}
