// Removing secrets from what a program prints, before anybody or anything stores it.
import { Transform } from "node:stream";
import { Suspicion } from "./bulk-scrub.js";
import { PatternScan } from "./pattern-scan.js";
import { compactShapes, decodedShapes, hexShapes, type Secret, shapesOf } from "./secrets.js";
import { compactView, DECODED_VIEWS, hexView, type Seen } from "./views.js";

export interface Scrubber {
  text(text: string): string;
  bytes(bytes: Uint8Array): Buffer;
  /** A secret cut in two by a chunk's end is found too; what cannot be the start of one is passed on at once. */
  stream(): Transform;
  /** The same for much at a time. */
  bulk(): BulkPass;
}

/** Large pieces that cannot hold a secret in a usual writing are passed on as they are, and nothing of them is copied. */
export interface BulkPass {
  /** The end of a large piece may be kept until the next one comes. */
  take(piece: Buffer): Buffer[];
  /** What is kept and cannot be the start of a secret, because no next piece comes soon. */
  settle(): Buffer[];
  end(): Buffer[];
}

/** However long the text, only a slice of it is looked at at a time: its views take several times its size. */
const SLICE_BYTES = 1 << 17;

/** Smaller pieces are read in full: they cost little. */
const BULK_BYTES = 2 * 1024;
/** The end of a piece is looked at closely, and so is what follows bytes that wait: there a secret may be cut in two. */
const EDGE_BYTES = 256;
/** The end of one piece and so much of the next show four bytes of any secret that is cut between them. */
const SEAM_BYTES = 64;

/** Replaces every shape of every secret by `[redacted:<name>]`. */
export function scrubber(secrets: readonly Secret[]): Scrubber {
  const shapes = new Shapes(secrets);
  let suspicion: Suspicion | null = null;
  const whole = (bytes: Uint8Array): Buffer => {
    const pass = new Pass(shapes);
    return Buffer.concat([pass.take(bytes), pass.end()]);
  };
  return {
    text: (text) => whole(Buffer.from(text, "utf8")).toString("utf8"),
    bytes: whole,
    stream() {
      const pass = new Pass(shapes);
      return new Transform({
        transform: (chunk: Buffer, _encoding, done) => done(null, pass.take(chunk)),
        flush: (done) => done(null, pass.end()),
      });
    },
    bulk() {
      suspicion ??= new Suspicion(secrets);
      return new Bulk(new Pass(shapes), suspicion);
    },
  };
}

class Bulk implements BulkPass {
  readonly #pass: Pass;
  readonly #quick: Suspicion;
  /** The end of a piece in which nothing was found, and which may go on as it is if nothing is found in what follows. */
  #end: Buffer | null = null;

  constructor(pass: Pass, quick: Suspicion) {
    this.#pass = pass;
    this.#quick = quick;
  }

  take(piece: Buffer): Buffer[] {
    const pass = this.#pass;
    const isPlain = piece.length >= BULK_BYTES && !this.#quick.mayHold(piece);
    const parts = this.#seam(piece, isPlain);
    let from = 0;
    // What waits is settled by what follows it at once.
    while (pass.waiting > 0 && from < piece.length) {
      const to = from + Math.max(EDGE_BYTES, pass.waiting);
      parts.push(pass.take(piece.subarray(from, to)));
      from = to;
    }
    const rest = piece.subarray(from);
    if (!isPlain || rest.length < BULK_BYTES) parts.push(pass.take(rest));
    else {
      const sure = rest.length - EDGE_BYTES;
      parts.push(rest.subarray(0, sure));
      // A copy, so that it does not keep the whole piece.
      this.#end = Buffer.from(rest.subarray(sure));
    }
    return parts.filter(({ length }) => length > 0);
  }

  settle(): Buffer[] {
    const end = this.#end;
    if (end === null) return [];
    this.#end = null;
    return [this.#quick.mayBegin(end) ? this.#pass.take(end) : end].filter(({ length }) => length > 0);
  }

  end(): Buffer[] {
    return [...this.settle(), this.#pass.end()].filter(({ length }) => length > 0);
  }

  #seam(next: Buffer, isPlain: boolean): Buffer[] {
    const end = this.#end;
    if (end === null) return [];
    this.#end = null;
    const isSure = isPlain && !this.#quick.touches(Buffer.concat([end, next.subarray(0, SEAM_BYTES)]));
    return [isSure ? end : this.#pass.take(end)];
  }
}

/** One text on its way: what may be the start of a secret waits for what follows it. */
class Pass {
  readonly #shapes: Shapes;
  #held: Uint8Array = Buffer.alloc(0);

  constructor(shapes: Shapes) {
    this.#shapes = shapes;
  }

  /** How many bytes wait. */
  get waiting(): number {
    return this.#held.length;
  }

  take(bytes: Uint8Array): Buffer {
    const parts: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
      const slice = bytes.subarray(at, at + SLICE_BYTES);
      const text = this.#held.length === 0 ? slice : Buffer.concat([this.#held, slice]);
      const { clean, rest } = this.#shapes.scrub(text, { isLast: false });
      this.#held = Buffer.from(rest);
      parts.push(clean);
    }
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  }

  end(): Buffer {
    return this.#shapes.scrub(this.#held, { isLast: true }).clean;
  }
}

interface Match {
  readonly at: number;
  readonly end: number;
  readonly mark: Buffer;
}

/** What is looked for in one view of the text. */
interface Layer {
  readonly scan: () => PatternScan;
  readonly shapes: readonly Uint8Array[];
  readonly marks: readonly Buffer[];
  /** null: the text itself. */
  readonly view: ((text: Uint8Array, isLast: boolean) => Seen | null) | null;
  /** Whether a secret may begin with a piece that was cut off. */
  readonly waitsForPieces: boolean;
}

/** A byte may be written as `&amp;#x000041;`, and lines may break. */
const WIDEST = 16;
const SLACK_BYTES = 4 * 1024;

class Shapes {
  readonly #layers: readonly Layer[];
  /** No writing is longer: whoever spreads one out further does not make us keep everything. */
  readonly #longest: number;

  constructor(secrets: readonly Secret[]) {
    this.#layers = [
      layer(secrets, shapesOf, null),
      ...DECODED_VIEWS.map((view) => layer(secrets, decodedShapes, view, true)),
      layer(secrets, compactShapes, compactView),
      layer(secrets, hexShapes, hexView),
    ].filter(({ shapes }) => shapes.length > 0);
    const longest = this.#layers
      .flatMap(({ shapes }) => shapes)
      .reduce((most, { length }) => Math.max(most, length), 0);
    this.#longest = SLACK_BYTES + WIDEST * longest;
  }

  /** The bytes without secrets; of bytes that go on, `rest` is what must wait, because a secret may have begun there. */
  scrub(bytes: Uint8Array, { isLast }: { readonly isLast: boolean }): { clean: Buffer; rest: Uint8Array } {
    const { matches, waiting } = this.#look(bytes, isLast);
    const parts: Uint8Array[] = [];
    let from = 0;
    for (const { at, end, mark } of matches) {
      if (at < from) continue;
      // A longer secret may begin here or earlier: what comes next decides.
      if (waiting.some((place) => place >= from && place <= at)) break;
      parts.push(bytes.subarray(from, at), mark);
      from = end;
    }
    const stop = waiting.find((place) => place >= from) ?? bytes.length;
    parts.push(bytes.subarray(from, stop));
    return { clean: Buffer.concat(parts), rest: bytes.subarray(stop) };
  }

  /** Matches in order of their places, where two begin together the longer first; and where one may have begun. */
  #look(bytes: Uint8Array, isLast: boolean): { matches: Match[]; waiting: number[] } {
    const matches: Match[] = [];
    const waiting: number[] = [];
    for (const { scan, shapes, marks, view, waitsForPieces } of this.#layers) {
      const seen = view === null ? null : view(bytes, isLast);
      if (view !== null && seen === null) continue;
      const text = seen?.bytes ?? bytes;
      scan().each(text, 0, text.length, (at, shape) => {
        const last = at + shapes[shape]!.length - 1;
        matches.push({ at: seen?.startOf(at) ?? at, end: seen?.endOf(last) ?? last + 1, mark: marks[shape]! });
      });
      if (isLast) continue;
      waiting.push(
        ...scan()
          .cutOff(text)
          .map((place) => seen?.startOf(place) ?? place),
      );
      if (waitsForPieces && seen !== null && seen.cut < bytes.length) waiting.push(seen.cut);
    }
    return {
      matches: matches.sort((a, b) => a.at - b.at || b.end - a.end),
      waiting: waiting.filter((place) => bytes.length - place <= this.#longest).sort((a, b) => a - b),
    };
  }
}

function layer(
  secrets: readonly Secret[],
  shapesFor: (value: string) => readonly string[],
  view: Layer["view"],
  waitsForPieces = false,
): Layer {
  const names = new Map<string, string>();
  for (const { name, value } of secrets) {
    for (const shape of shapesFor(value)) if (!names.has(shape)) names.set(shape, name);
  }
  const shapes = [...names.keys()].map((shape) => Buffer.from(shape, "utf8"));
  // A name comes from a vault that may be a stranger's, and goes to a terminal.
  const marks = [...names.values()].map((name) => Buffer.from(`[redacted:${name.replace(/[^\w.-]/g, "?")}]`, "utf8"));
  let scan: PatternScan | null = null;
  return {
    // Most texts are escaped in few ways, so the tables for a way are made when it is met.
    scan: () => {
      scan ??= new PatternScan(shapes);
      return scan;
    },
    shapes,
    marks,
    view,
    waitsForPieces,
  };
}
