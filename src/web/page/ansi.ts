// Terminal output as spans. Colours and weight are kept (SGR); everything else that speaks to a terminal is dropped.
import { withoutEscapes } from "../log-lines.js";

export interface Span {
  readonly text: string;
  /** Classes such as `b c1`; empty for plain text. */
  readonly class: string;
}

interface Look {
  readonly bold: boolean;
  readonly dim: boolean;
  readonly colour: number | null;
}

const PLAIN: Look = { bold: false, dim: false, colour: null };

/** Lines of a log, each with its spans; a colour goes on over the end of a line, as in a terminal. */
export function spansOf(text: string): Span[][] {
  const log = new LogLines(text);
  return Array.from({ length: log.count }, (_, at) => log.spans(at));
}

/** A long log: how each line begins is known at once, its spans are made when it is looked at. */
export class LogLines {
  readonly #lines: readonly string[];
  /** Of lines that change the colour: how the next one begins. */
  readonly #after = new Map<number, Look>();
  readonly #changing: number[] = [];

  constructor(text: string) {
    this.#lines = text.split(/\r?\n/);
    let look = PLAIN;
    for (const [at, line] of this.#lines.entries()) {
      if (!line.includes("\u001b")) continue;
      look = spansIn(line, look)[1];
      this.#after.set(at, look);
      this.#changing.push(at);
    }
  }

  get count(): number {
    return this.#lines.length;
  }

  spans(at: number): Span[] {
    return spansIn(this.#lines[at]!, this.#before(at))[0];
  }

  /** Without colours, for searching. */
  plain(at: number): string {
    const line = this.#lines[at]!;
    return line.includes("\u001b") || line.includes("\r") ? withoutEscapes(seenOf(line)) : line;
  }

  #before(at: number): Look {
    let [low, high] = [0, this.#changing.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#changing[middle]! < at) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? PLAIN : this.#after.get(this.#changing[low - 1]!)!;
  }
}

/** A bare carriage return writes over the line: the last writing is what a person saw. */
const seenOf = (line: string) => (line.includes("\r") ? line.split("\r").at(-1)! : line);

function spansIn(line: string, before: Look): readonly [Span[], Look] {
  const spans: Span[] = [];
  let look = before;
  for (const [index, part] of seenOf(line)
    .split(/\u001b\[([0-9;]*)m/)
    .entries()) {
    if (index % 2 === 1) look = applied(look, part);
    else {
      const plain = withoutEscapes(part);
      if (plain !== "") spans.push({ text: plain, class: classOf(look) });
    }
  }
  return [spans, look];
}

function applied(before: Look, codes: string): Look {
  const numbers = codes.split(";").map((code) => Number(code || 0));
  let look = before;
  for (let at = 0; at < numbers.length; at += 1) {
    const code = numbers[at]!;
    if (code === 0) look = PLAIN;
    else if (code === 1) look = { ...look, bold: true };
    else if (code === 2) look = { ...look, dim: true };
    else if (code === 22) look = { ...look, bold: false, dim: false };
    else if (code === 39) look = { ...look, colour: null };
    else if (code >= 30 && code <= 37) look = { ...look, colour: code - 30 };
    else if (code >= 90 && code <= 97) look = { ...look, colour: code - 90 };
    else if (code === 38 || code === 48) {
      const [kind, first = -1] = numbers.slice(at + 1);
      if (code === 38) look = { ...look, colour: kind === 5 && first >= 0 && first < 16 ? first % 8 : null };
      at += kind === 5 ? 2 : kind === 2 ? 4 : 0;
    }
  }
  return look;
}

function classOf({ bold, dim, colour }: Look): string {
  return [bold ? "b" : "", dim ? "d" : "", colour === null ? "" : `c${colour}`].filter(Boolean).join(" ");
}
