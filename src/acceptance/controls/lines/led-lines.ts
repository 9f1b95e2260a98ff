// Lines of shell in the project's own settings that a command runs: a target of make, a script of npm. They are the base's,
// so what they expect can be altered; but the check is theirs alone only when nothing else decides.
import type { TreeView } from "../../runners/runner.js";
import { meaningOf, type Place, type Variant } from "./expectations.js";
import { makeLines } from "./make-lines.js";
import { scriptLines } from "./script-lines.js";
import { type Pipeline, type Step, shellSteps } from "./shell-line.js";

export interface Line {
  /** As a shell reads it. */
  readonly text: string;
  /** Where it runs, from the tree's root. */
  readonly folder: string;
  /** Make goes on when it fails. */
  readonly mayFail: boolean;
  /** Such as `line 4 of Makefile`. */
  readonly where: string;
  /** The settings with another line in its place; null where no other can stand there. */
  readonly alter: ((text: string) => Altered) | null;
}

export interface Altered {
  readonly files: ReadonlyMap<string, string>;
  /** Another command, where the line is the command itself. */
  readonly command?: string;
}

/** Something that a line expects. */
export interface Expected {
  readonly line: Line;
  readonly step: Step;
  readonly variant: Variant;
}

export interface LedLines {
  readonly expected: readonly Expected[];
  /** What decides and cannot be altered, in its own words. */
  readonly others: readonly string[];
  /** All lines, as far as they are known. */
  readonly texts: readonly string[];
}

const DEPTH = 4;

/** More steps than these were not written by a person. */
const MOST_STEPS = 500;

/** null where a command calls neither make nor npm. */
export function ledLines(command: string, view: TreeView): LedLines | null {
  const reader = new Reader(view);
  reader.follow(rootLine(command), 0);
  return reader.calls === 0 ? null : reader.result();
}

const rootLine = (text: string): Line => ({
  text,
  folder: "",
  mayFail: false,
  where: "the command",
  alter: (altered) => ({ files: new Map(), command: altered }),
});

interface Known {
  /** Steps are counted as they are taken. */
  readonly order: number;
  readonly line: Line;
  readonly step: Step;
  readonly text: string;
}

interface Maker extends Known {
  readonly names: readonly string[];
  readonly isVariable: boolean;
  /** It goes on with what was made before. */
  readonly adds: boolean;
}

interface Asking extends Known {
  readonly variants: readonly Variant[];
  readonly strong: boolean;
}

class Reader {
  readonly #view: TreeView;
  readonly #texts: string[] = [];
  readonly #known: Known[] = [];
  readonly #makers: Maker[] = [];
  readonly #asking: Asking[] = [];
  readonly #others: string[] = [];
  calls = 0;

  constructor(view: TreeView) {
    this.#view = view;
  }

  follow(line: Line, depth: number): void {
    if (line.mayFail) return;
    const steps = depth > DEPTH || this.#known.length > MOST_STEPS ? null : shellSteps(line.text);
    if (steps === null) {
      this.#others.push(line.text);
      return;
    }
    let folder = line.folder;
    for (const step of steps) {
      const text = textOf(step.pipeline, line);
      const known: Known = { order: this.#known.length, line, step, text };
      const place: Place = { view: this.#view, folder, isKnown: (name) => this.#isKnown(name) };
      const meaning = meaningOf(step, place);
      if (meaning.kind === "goes to") folder = meaning.folder;
      else if (meaning.kind === "calls") {
        if (!this.#call(meaning.words, folder, depth) || !step.decides) this.#others.push(text);
      } else if (meaning.kind === "makes") this.#makers.push({ ...known, ...meaning });
      else if (meaning.kind === "expects") this.#asking.push({ ...known, ...meaning });
      else if (meaning.kind === "decides" && (step.decides || !isHarmless(step.pipeline))) this.#others.push(text);
      this.#known.push(known);
    }
  }

  #call([program, ...words]: readonly string[], folder: string, depth: number): boolean {
    this.calls += 1;
    const lines = program === "npm" ? scriptLines(words, folder, this.#view) : makeLines(words, folder, this.#view);
    for (const line of lines ?? []) {
      if (this.#texts.length > MOST_STEPS) return false;
      this.#texts.push(line.text);
      this.follow(line, depth + 1);
    }
    return lines !== null;
  }

  #isKnown(name: string): boolean {
    return this.#known.some(({ text }) => !/^rm\b/.test(text) && speaksOf(text, name, false));
  }

  result(): LedLines {
    const used = this.#usedMakers();
    const unused = this.#makers.filter((maker) => maker.step.decides && !used.has(maker));
    const unread = this.#asking.filter((asking) => !asking.step.decides || !this.#isAlterable(asking));
    const expected = this.#asking
      .filter((asking) => !unread.includes(asking))
      .flatMap(({ line, step, variants }) => variants.map((variant) => ({ line, step, variant })));
    const others = [...this.#others, ...unused.map(({ text }) => text), ...unread.map(({ text }) => text)];
    return { expected, others, texts: this.#texts };
  }

  /** What a strong question looks at, directly or by what was made of it. */
  #usedMakers(): ReadonlySet<Maker> {
    const used = new Set<Maker>();
    const looking: Known[] = this.#asking.filter(({ strong, step }) => strong && step.decides);
    for (const known of looking) {
      for (const maker of this.#makers) {
        if (used.has(maker) || !maker.names.some((name) => this.#reaches(maker, name, known))) continue;
        used.add(maker);
        looking.push(maker);
      }
    }
    return used;
  }

  /** What was made under a name is what a later step finds there. */
  #reaches(maker: Maker, name: string, known: Known): boolean {
    if (maker.order >= known.order || (maker.isVariable && maker.line !== known.line)) return false;
    const isOver = (other: Maker) =>
      other.order > maker.order && other.order <= known.order && !other.adds && other.names.includes(name);
    return speaksOf(known.text, name, maker.isVariable) && !this.#makers.some(isOver);
  }

  /** An answer in a file that another step reads would be altered for that one, too. */
  #isAlterable({ line, text, order, variants }: Asking): boolean {
    if (line.alter === null) return false;
    const others = this.#known.filter((known) => known.order !== order);
    return variants.every(
      ({ word }) =>
        word === undefined ||
        (timesNamed(text, word) === 1 && !others.some((known) => timesNamed(known.text, word) > 0)),
    );
  }
}

const textOf = ({ start, end }: Pipeline, line: Line): string => line.text.slice(start, end);

/** It goes on whatever such a program ends with. */
const isHarmless = ({ commands }: Pipeline): boolean =>
  !/^(?:exit|exec|eval|return|trap|alias|source|\.|set)$/.test(commands.at(-1)!.words[0]?.text ?? "");

const escaped = (name: string): string => name.replace(/^(?:\.\/)+/, "").replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

function speaksOf(text: string, name: string, isVariable: boolean): boolean {
  const word = escaped(name);
  return new RegExp(isVariable ? `\\$\\{?${word}(?!\\w)` : `(?<![\\w-])${word}(?![\\w-]|\\.\\w)`).test(text);
}

/** As it is written, not a file of that name in another folder. */
const timesNamed = (text: string, name: string): number =>
  text.match(new RegExp(`(?<![\\w./-])(?:\\./)?${escaped(name)}(?![\\w-]|\\.\\w)`, "g"))?.length ?? 0;
