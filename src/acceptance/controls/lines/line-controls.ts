// Each expectation in the lines of settings, altered alone. The line says so itself when it fails by what was altered, so that
// no other failure is taken for it.
import { randomInt } from "node:crypto";
import type { Control } from "../../model.js";
import type { TreeView } from "../../runners/runner.js";
import { applyEdits } from "../text/edit.js";
import { ALTERED, newWord } from "../text/marks.js";
import type { Expected, LedLines } from "./led-lines.js";

/** More than so many are chosen from; the last is always among them. */
const MOST = 12;

const bytes = (text: string): Uint8Array => Buffer.from(text, "utf8");

export const lineControls = ({ expected }: LedLines, view: TreeView): Control[] =>
  chosen(expected).map((each) => controlOf(each, view));

function chosen(all: readonly Expected[]): Expected[] {
  const rest = all.slice(0, -1);
  while (rest.length >= MOST) rest.splice(randomInt(rest.length), 1);
  return [...rest, ...all.slice(-1)];
}

function controlOf({ line, step, variant }: Expected, view: TreeView): Control {
  const [marker, cut] = [newWord(20), 7];
  const { start, end } = step.pipeline;
  // In two pieces, because make and npm show what they run.
  const say = `echo '${marker.slice(0, cut)}''${marker.slice(cut)}' >&2`;
  const [head, tail] = step.failsWhen ? ["{ ", ` && ${say}; }`] : ["{ ", ` || { ${say}; false; }; }`];
  const around = [
    { start, end: start, text: head },
    { start: end, end, text: tail },
  ];
  const { files, command } = line.alter!(applyEdits(line.text, [around[0]!, ...variant.edits, around[1]!]));
  const altered = new Map([...files].map(([path, text]) => [path, bytes(text)]));
  if (variant.golden !== null) altered.set(variant.golden, bytes(`${ALTERED}\n${view.read(variant.golden)!}`));
  return {
    name: `${nameOf(variant.golden, line.where)} altered alone`,
    files: altered,
    check: { marker, ...(command === undefined ? {} : { command }) },
    mustFail: null,
  };
}

const nameOf = (golden: string | null, where: string): string =>
  golden === null ? `the expectation in ${where}` : golden;
