// JSON as two readers must agree on it: JSON.parse keeps the last of two equal keys, accepts `__proto__` and lone
// surrogates, and turns 1e999 into Infinity. Here each of these is refused, with its place.
// Scalars that would be written differently (1.0, 12345678901234567890, "\u0041") keep their source text, so a
// read-modify-write changes nothing it was not asked to change.

export class JsonError extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.name = "JsonError";
    this.offset = offset;
  }
}

export interface JsonOptions {
  readonly maxDepth?: number;
}

interface Source {
  readonly value: unknown;
  readonly raw: string;
}

/** Source text of scalars, by the container that holds them. Lost with the container, harmlessly. */
const sources = new WeakMap<object, Map<string | number, Source>>();

/** Decodes UTF-8 strictly: no byte-order mark, no broken sequences. */
export function decodeUtf8(bytes: Uint8Array): string {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    throw new JsonError("starts with a byte-order mark", 0);
  }
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    throw new JsonError("is UTF-16, not UTF-8", 0);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new JsonError("is not valid UTF-8", 0);
  }
}

/** Whatever writes or walks a value calls itself for each level, and ends where the stack does. */
export function isNestedDeeper(value: unknown, most = 64): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; depth <= most; depth += 1) {
    level = level.flatMap((one) => (typeof one === "object" && one !== null ? Object.values(one) : []));
    if (level.length === 0) return false;
  }
  return true;
}

/** Reads one JSON document. Throws JsonError. */
export function parseJson(input: Uint8Array | string, options: JsonOptions = {}): unknown {
  const text = typeof input === "string" ? input : decodeUtf8(input);
  const reader = new Reader(text, options.maxDepth ?? 64);
  return reader.document();
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const LONE_SURROGATE = /\p{Surrogate}/u;
const SPACE = /[ \t\n\r]*/y;
const SPACE_CODE = 0x20;
const ZERO = 0x30;
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

class Reader {
  private at = 0;
  private depth = 0;
  /** Source of the scalar just read, when writing it again would give other text. */
  private raw: string | null = null;
  private readonly text: string;
  private readonly maxDepth: number;

  constructor(text: string, maxDepth: number) {
    this.text = text;
    this.maxDepth = maxDepth;
  }

  document(): unknown {
    this.space();
    const value = this.value();
    this.space();
    if (this.at < this.text.length) this.fail("text after the end of the document");
    return value;
  }

  private value(): unknown {
    this.raw = null;
    const character = this.text[this.at];
    switch (character) {
      case "{":
        return this.object();
      case "[":
        return this.array();
      case '"':
        return this.string();
      case "t":
        return this.word("true", true);
      case "f":
        return this.word("false", false);
      case "n":
        return this.word("null", null);
      case undefined:
        return this.fail("the document ends too early");
      default:
        return this.number();
    }
  }

  private object(): unknown {
    const result: Record<string, unknown> = {};
    this.enter();
    this.space();
    if (this.text[this.at] === "}") return this.leave(result);
    for (;;) {
      if (this.text[this.at] !== '"') this.fail('a key must stand in "double quotes"');
      const keyAt = this.at;
      const key = this.string();
      if (key === "__proto__") this.fail('the key "__proto__" is not allowed', keyAt);
      if (Object.hasOwn(result, key)) this.fail(`the key ${JSON.stringify(key)} is given twice`, keyAt);
      this.space();
      this.take(":");
      this.space();
      result[key] = this.value();
      this.keep(result, key, result[key]);
      this.space();
      if (this.text[this.at] === "}") return this.leave(result);
      this.take(",");
      this.space();
    }
  }

  private array(): unknown {
    const result: unknown[] = [];
    this.enter();
    this.space();
    if (this.text[this.at] === "]") return this.leave(result);
    for (;;) {
      const value = this.value();
      this.keep(result, result.length, value);
      result.push(value);
      this.space();
      if (this.text[this.at] === "]") return this.leave(result);
      this.take(",");
      this.space();
    }
  }

  private enter(): void {
    this.at += 1;
    this.depth += 1;
    if (this.depth > this.maxDepth) this.fail(`nested deeper than ${this.maxDepth} levels`);
  }

  private leave<T>(result: T): T {
    this.at += 1;
    this.depth -= 1;
    this.raw = null;
    return result;
  }

  private string(): string {
    const start = this.at;
    this.at += 1;
    let result = "";
    let escaped = false;
    for (;;) {
      PLAIN.lastIndex = this.at;
      PLAIN.test(this.text);
      const plain = this.text.slice(this.at, PLAIN.lastIndex);
      result = escaped ? result + plain : plain;
      this.at = PLAIN.lastIndex;
      const character = this.text[this.at];
      if (character === '"') break;
      if (character !== "\\") this.fail(character === undefined ? "a text is not closed" : "a raw control character");
      escaped = true;
      result += this.escape();
    }
    this.at += 1;
    if (escaped) {
      if (LONE_SURROGATE.test(result)) this.fail("half of a surrogate pair", start);
      const raw = this.text.slice(start, this.at);
      this.raw = raw === JSON.stringify(result) ? null : raw;
    } else this.raw = null;
    return result;
  }

  private escape(): string {
    const letter = this.text[this.at + 1] ?? "";
    if (letter === "u") {
      const digits = this.text.slice(this.at + 2, this.at + 6);
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) this.fail("a broken \\u escape");
      this.at += 6;
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
    const character = ESCAPES[letter];
    if (character === undefined) this.fail("an unknown escape");
    this.at += 2;
    return character!;
  }

  private number(): number {
    return this.plainNumber() ?? this.anyNumber();
  }

  /** A whole number of few digits, as nearly all are; null for any other. */
  private plainNumber(): number | null {
    const { text, at } = this;
    let value = 0;
    let end = at;
    for (let digit = text.charCodeAt(end) - ZERO; digit >= 0 && digit <= 9; digit = text.charCodeAt(end) - ZERO) {
      value = value * 10 + digit;
      end += 1;
    }
    const isLong = end - at > 15 || (end - at > 1 && text.charCodeAt(at) === ZERO);
    if (end === at || isLong || ".eE".includes(text[end] ?? "end")) return null;
    this.at = end;
    this.raw = null;
    return value;
  }

  private anyNumber(): number {
    NUMBER.lastIndex = this.at;
    const raw = NUMBER.exec(this.text)?.[0];
    if (raw === undefined) return this.fail(`${JSON.stringify(this.text[this.at])} does not belong here`);
    const value = Number(raw);
    if (!Number.isFinite(value)) return this.fail("a number out of range");
    this.at += raw.length;
    this.raw = JSON.stringify(value) === raw ? null : raw;
    return value;
  }

  private word<T>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.at)) this.fail(`${JSON.stringify(this.text[this.at])} does not belong here`);
    this.at += word.length;
    return value;
  }

  private keep(container: object, key: string | number, value: unknown): void {
    if (this.raw === null) return;
    const spellings = sources.get(container) ?? new Map<string | number, Source>();
    sources.set(container, spellings);
    spellings.set(key, { value, raw: this.raw });
    this.raw = null;
  }

  private space(): void {
    if (this.text.charCodeAt(this.at) > SPACE_CODE) return;
    SPACE.lastIndex = this.at;
    SPACE.test(this.text);
    this.at = SPACE.lastIndex;
  }

  private take(character: string): void {
    if (this.text[this.at] !== character) {
      this.fail(this.at >= this.text.length ? "the document ends too early" : `there must be a "${character}"`);
    }
    this.at += 1;
  }

  private fail(message: string, at = this.at): never {
    throw new JsonError(message, at);
  }
}

/** Says that `copy` was made from `original`, so that values it shares keep their spelling. Returns `copy`. */
export function keepSpelling<T extends object>(copy: T, original: object | undefined): T {
  const spellings = original === undefined ? undefined : sources.get(original);
  if (spellings !== undefined) sources.set(copy, spellings);
  return copy;
}

export interface FormatOptions {
  /** Spaces per level; 0 writes no whitespace at all. */
  readonly indent?: number;
  /** Containers from this depth on stay on one line. */
  readonly inlineFrom?: number;
}

/** Writes JSON. Scalars that were read and not changed keep the text they had. */
export function formatJson(value: unknown, options: FormatOptions = {}): string {
  return format(value, null, { indent: options.indent ?? 2, inlineFrom: options.inlineFrom ?? Infinity }, 0);
}

function format(value: unknown, raw: string | null, options: Required<FormatOptions>, depth: number): string {
  if (raw !== null) return raw;
  if (typeof value !== "object" || value === null) {
    if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError("JSON has no infinity");
    return JSON.stringify(value) ?? "null";
  }
  const kept = sources.get(value);
  const rawOf = (key: string | number, item: unknown) => {
    const source = kept?.get(key);
    return source !== undefined && Object.is(source.value, item) ? source.raw : null;
  };
  const colon = options.indent === 0 ? ":" : ": ";
  const items = Array.isArray(value)
    ? value.map((item, index) => format(item, rawOf(index, item), options, depth + 1))
    : Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => JSON.stringify(key) + colon + format(item, rawOf(key, item), options, depth + 1));
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  if (items.length === 0) return `${open}${close}`;
  if (options.indent === 0) return `${open}${items.join(",")}${close}`;
  if (depth >= options.inlineFrom) return `${open}${items.join(", ")}${close}`;
  const inner = `\n${" ".repeat(options.indent * (depth + 1))}`;
  return `${open}${inner}${items.join(`,${inner}`)}\n${" ".repeat(options.indent * depth)}${close}`;
}
