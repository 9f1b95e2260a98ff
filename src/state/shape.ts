// Small checks for what is read from disk, before every answer: no schema library is loaded for them, and ten thousand
// tasks take a millisecond. The schemas in src/schema say what we write; these say what we can still read.

/** What is wrong with a value, as `path: reason`, or null. */
export type ShapeCheck = (value: unknown) => string | null;

export const text: ShapeCheck = (value) => (typeof value === "string" ? null : "must be text");
export const whole: ShapeCheck = (value) => (Number.isInteger(value) ? null : "must be a whole number");

export function oneOf(...values: readonly string[]): ShapeCheck {
  return (value) => (values.includes(value as string) ? null : `must be one of ${values.join(", ")}`);
}

export function optional(check: ShapeCheck): ShapeCheck {
  return (value) => (value === undefined ? null : check(value));
}

export function nullable(check: ShapeCheck): ShapeCheck {
  return (value) => (value === null ? null : check(value));
}

export function listOf(check: ShapeCheck): ShapeCheck {
  return (value) => {
    if (!Array.isArray(value)) return "must be a list";
    for (let index = 0; index < value.length; index += 1) {
      const problem = check(value[index]);
      if (problem !== null) return within(index, problem);
    }
    return null;
  };
}

/** Fields that are not named are let through: a newer version may have added them. */
export function object(fields: Readonly<Record<string, ShapeCheck>> = {}): ShapeCheck {
  const checks = Object.entries(fields);
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return "must be an object";
    for (const [name, check] of checks) {
      const problem = check((value as Record<string, unknown>)[name]);
      if (problem !== null) return within(name, problem);
    }
    return null;
  };
}

function within(name: string | number, problem: string): string {
  return problem.startsWith("must") ? `${name}: ${problem}` : `${name}.${problem}`;
}
