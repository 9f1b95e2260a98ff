// What a criterion itself expects, altered field by field: the run is repeated and must be judged otherwise.
import type { Check, Control } from "../model.js";
import { ALTERED } from "./text/marks.js";

type Expected = NonNullable<Check["expected"]>;

const otherText = (value: unknown): unknown =>
  Array.isArray(value) ? value.map((text) => `${text}${ALTERED}`) : `${value}${ALTERED}`;

const ALTERATIONS: Readonly<Record<string, (value: unknown) => unknown>> = {
  exit_code: (value) => Number(value) + 1,
  status_code: (value) => Number(value) + 1,
  stdout_contains: otherText,
  body_contains: otherText,
  result: otherResult,
};

export function expectedControls({ expected }: Check): Control[] {
  if (expected === undefined) return [];
  return Object.entries(ALTERATIONS).flatMap(([field, alter]) => {
    const value = expected[field];
    // 0 is what every run ends with; the other forms alter what leads to it.
    if (value === undefined || value === null || (field === "exit_code" && value === 0)) return [];
    const control = (name: string, other: unknown): Control => {
      const changed: Expected = { ...expected, [field]: other };
      return { name: `${name} expected.${field}`, files: new Map(), check: { expected: changed }, mustFail: null };
    };
    const near = field.endsWith("_contains") ? nearText(value) : null;
    return [control("another", alter(value)), ...(near === null ? [] : [control("a near", near)])];
  });
}

/** Not so near that a list of right answers would hold it, too. */
const STEP = 11;

/** The same words about another number: whoever prints every answer prints this one as well. null where there is none. */
function nearText(value: unknown): unknown {
  const texts = (Array.isArray(value) ? value : [value]).map(String);
  const moved = texts.map((text) =>
    /\D{3}/.test(text)
      ? text.replace(/(?<![\d.])\d{1,9}(?![\d.])(?=\D*$)/, (digits) => String(Number(digits) + STEP))
      : text,
  );
  if (moved.every((text, index) => text === texts[index])) return null;
  return Array.isArray(value) ? moved : moved[0]!;
}

function otherResult(value: unknown): unknown {
  if (typeof value === "number") return value + 1;
  if (typeof value === "string") return value + ALTERED;
  if (typeof value === "boolean") return !value;
  return Array.isArray(value) ? [...value, ALTERED] : ALTERED;
}
