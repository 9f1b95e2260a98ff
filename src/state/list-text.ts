// The text of a file that is mostly one long list, kept so that changing one item does not mean writing all of them out
// again as JSON. One item per line: readable, greppable, and a merge in git touches only what changed.

export interface ListText {
  /** Everything before the first item. */
  readonly head: string;
  /** The items, one per line, with `,\n` between them. */
  readonly body: Buffer;
  /** Where each item begins in `body`. */
  readonly starts: readonly number[];
}

const BETWEEN = ",\n";
const TAIL = "\n]\n}\n";

type Fields = Readonly<Record<string, unknown>>;

/** The list is written last, whatever its place was, so that an append changes only the end of the file. */
export function listText(value: Fields, key: string): ListText {
  const items = value[key] as readonly unknown[];
  const lines = items.map((item) => JSON.stringify(item));
  const starts: number[] = [];
  let at = 0;
  for (const line of lines) {
    starts.push(at);
    at += Buffer.byteLength(line) + BETWEEN.length;
  }
  return { head: headOf(value, key), body: Buffer.from(lines.join(BETWEEN)), starts };
}

export function withHead(text: ListText, value: Fields, key: string): ListText {
  return { ...text, head: headOf(value, key) };
}

export function appended(text: ListText, ...items: readonly unknown[]): ListText {
  const starts = [...text.starts];
  const parts: Uint8Array[] = [text.body];
  let end = text.body.length;
  for (const item of items) {
    const between = starts.length === 0 ? "" : BETWEEN;
    const line = Buffer.from(`${between}${JSON.stringify(item)}`);
    starts.push(end + between.length);
    parts.push(line);
    end += line.length;
  }
  return { head: text.head, body: Buffer.concat(parts, end), starts };
}

export function replaced(text: ListText, index: number, item: unknown): ListText {
  const start = text.starts[index]!;
  const next = text.starts[index + 1];
  const end = next === undefined ? text.body.length : next - BETWEEN.length;
  const line = Buffer.from(JSON.stringify(item));
  const shift = line.length - (end - start);
  return {
    head: text.head,
    body: Buffer.concat([text.body.subarray(0, start), line, text.body.subarray(end)]),
    starts: shift === 0 ? text.starts : text.starts.map((at, i) => (i > index ? at + shift : at)),
  };
}

export function chunks({ head, body, starts }: ListText): readonly Uint8Array[] {
  return [Buffer.from(starts.length === 0 ? head : `${head}\n`), body, Buffer.from(TAIL)];
}

function headOf(value: Fields, key: string): string {
  const fields = Object.entries(value).filter(([name, field]) => name !== key && field !== undefined);
  const lines = fields.map(([name, field]) => `${JSON.stringify(name)}: ${JSON.stringify(field)},\n`);
  return `{\n${lines.join("")}${JSON.stringify(key)}: [`;
}
