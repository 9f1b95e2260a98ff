// Tests that their author switched off so that a learner meets one at a time, switched on again. Pure text.

const JAVASCRIPT: readonly (readonly [RegExp, string])[] = [
  [/^([ \t]*)x(test|it|describe)(\s*\()/gm, "$1$2$3"],
  [/^([ \t]*)x(test|it|describe)(\.each\b)/gm, "$1$2$3"],
  [/^([ \t]*)(test|it|describe)\.skip(\s*\(|\.each\b)/gm, "$1$2$3"],
];

const RULES: Readonly<Record<string, readonly (readonly [RegExp, string])[]>> = {
  js: JAVASCRIPT,
  mjs: JAVASCRIPT,
  java: [[/^[ \t]*@(?:Disabled|Ignore)(?:[ \t]*\([^()]*\))?[ \t]*(?:\n|(?=@|public|void))/gm, ""]],
  rs: [[/^[ \t]*#\[ignore(?:\s*=\s*"[^"\n]*")?\][ \t]*\n/gm, ""]],
  py: [[/^[ \t]*@(?:unittest\.skip|pytest\.mark\.skip)(?:[ \t]*\([^()\n]*\))?[ \t]*\n/gm, ""]],
};

export interface Unskipped {
  readonly text: string;
  /** How many marks were taken away. */
  readonly count: number;
}

export function unskip(path: string, text: string): Unskipped {
  const ending = path.slice(path.lastIndexOf(".") + 1);
  const rules = Object.hasOwn(RULES, ending) ? RULES[ending]! : [];
  let count = 0;
  let now = text;
  for (const [mark, instead] of rules) {
    count += now.match(mark)?.length ?? 0;
    now = now.replace(mark, instead);
  }
  return { text: now, count };
}
