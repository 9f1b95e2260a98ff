// What a criterion itself expects, altered field by field: the run is repeated and must be judged otherwise.
import type { Check, Control } from "../model.js";
import { ALTERED } from "./text/literal.js";

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
    const other: Expected = { ...expected, [field]: alter(value) };
    return [{ name: `another expected.${field}`, files: new Map(), check: { expected: other }, mustFail: null }];
  });
}

function otherResult(value: unknown): unknown {
  if (typeof value === "number") return value + 1;
  if (typeof value === "string") return value + ALTERED;
  if (typeof value === "boolean") return !value;
  return Array.isArray(value) ? [...value, ALTERED] : ALTERED;
}
