// Parts that no command shows by themselves: what a gate reads, what an agent prints, what a run remembers. Measured here, in
// processor time of this process.
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readConstraints } from "../src/acceptance/plan/constraints.js";
import { readShell } from "../src/events/shell-writes.js";
import { readJournal } from "../src/run/record/journal.js";
import { leakScanner, scrubber } from "../src/vault/index.js";
import { fillJournal } from "./growth-inputs.js";

export interface Piece {
  readonly name: string;
  /** The middle one of three sizes. */
  readonly n: number;
  /** Makes ready and returns what is measured. */
  readonly make: (n: number, folder: string) => () => unknown;
}

const SECRETS = ["hunter2-correct-horse", "AKIAQ7ZK4NXJ2PTRW5LM"].map((value, i) => ({ name: `s${i}`, value }));
const many = (n: number, of: (i: number) => string): string => Array.from({ length: n }, (_, i) => of(i)).join("");

/** The longest command that is read; longer ones are refused at once. */
const SHELL_CHARS = 6_000;

function shell(name: string, pump: string, head = ""): Piece {
  const text = (n: number) => head + pump.repeat(Math.floor(n / pump.length));
  return { name: `gate: ${name}`, n: SHELL_CHARS, make: (n) => () => readShell(text(n)) };
}

export const PIECES: readonly Piece[] = [
  shell("words", "echo a; "),
  shell("pipes", "a|"),
  shell("quotes", "'\\''"),
  shell("braces", "{a,"),
  shell("spaces in code", " ", "python3 -c 'open"),
  shell("substitutions", "`a` "),
  ...(["a line of text\n", "\n", "  \\u0068", "aHVudGVyMi1jb3JyZWN0LWhvcnNl\n"] as const).map(
    (line, i): Piece => ({
      name: `scrub: ${["lines", "newlines alone", "escapes", "lines that hold a secret"][i]}`,
      n: 20_000,
      make: (n) => {
        const scrub = scrubber(SECRETS);
        const bytes = Buffer.from(line.repeat(n));
        return () => scrub.bytes(bytes);
      },
    }),
  ),
  {
    name: "scrub: an agent's lines, one by one",
    n: 8_000,
    make: (n) => () => {
      const stream = scrubber(SECRETS).stream();
      stream.resume();
      for (let i = 0; i < n; i += 1) stream.write(`line ${i} of what an agent says\n`);
      stream.end();
    },
  },
  ...(["lines", "one line"] as const).map(
    (how): Piece => ({
      name: `leak scan: ${how}`,
      n: 20_000,
      make: (n) => {
        const bytes = Buffer.from(many(n, (i) => `const value${i} = "${i * 7919}";${how === "lines" ? "\n" : " "}`));
        return async () => (await leakScanner()).scan("a.ts", bytes);
      },
    }),
  ),
  ...([" ", "a, ", ".", "src/*/"] as const).map(
    (pump): Piece => ({
      name: `constraints: ${JSON.stringify(pump)}`,
      n: 600_000,
      make: (n) => () => readConstraints([`do not modify ${pump.repeat(Math.floor(n / pump.length))}x`]),
    }),
  ),
  { name: "resume: lines of the journal", n: 2_000, make: journalOf },
];

function journalOf(n: number, folder: string): () => unknown {
  const path = join(mkdtempSync(join(folder, "journal-")), "journal.jsonl");
  fillJournal(path, n);
  return () => readJournal(path);
}

/** Milliseconds of processor time, the least of a few runs. */
export async function measurePiece({ make }: Piece, n: number, folder: string, rounds: number): Promise<number> {
  const place = mkdtempSync(join(folder, "piece-"));
  try {
    const work = make(n, place);
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < rounds; i += 1) {
      const start = process.cpuUsage();
      await work();
      const { user, system } = process.cpuUsage(start);
      least = Math.min(least, (user + system) / 1_000);
    }
    return least;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
