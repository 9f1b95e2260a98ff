// What is wrong with a document, in words for people. The validator's own sentences speak of its types.

/** What a validator found. Fields beyond the path and the message differ by code. */
export interface Mismatch {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly expected?: unknown;
  readonly format?: unknown;
  readonly values?: readonly unknown[];
  readonly keys?: readonly string[];
  readonly origin?: unknown;
  readonly minimum?: unknown;
  readonly maximum?: unknown;
  /** What each form of a union has against it. */
  readonly errors?: readonly (readonly Mismatch[])[];
}

/** The place and what is wrong there: `task.priority: must be one of low, high`. `whole` names the document itself. */
export function mismatchLine(mismatch: Mismatch, whole = "document"): string {
  return `${mismatch.path.map(String).join(".") || whole}: ${mismatchWords(mismatch)}`;
}

export function mismatchWords(mismatch: Mismatch): string {
  const { code, message, values = [], keys = [] } = mismatch;
  // A schema that has words of its own keeps them.
  if (!/^(?:Invalid|Too|Unrecognized|Not|Number|Expected)\b/.test(message)) return message;
  switch (code) {
    case "invalid_type":
      return message.endsWith("received undefined") ? "is missing" : `must be ${typeWords(mismatch.expected)}`;
    case "invalid_value":
      return `must be ${values.length > 1 ? "one of " : ""}${values.map(String).join(", ")}`;
    case "invalid_format":
      return `must be ${FORMATS[String(mismatch.format)] ?? "of another form"}`;
    case "unrecognized_keys":
      return `there is no field ${keys.join(", ")}`;
    case "too_small":
      return atLeast(mismatch);
    case "too_big":
      return `must be at most ${mismatch.maximum}${unit(mismatch, mismatch.maximum)}`;
    case "invalid_union":
      return unionWords(mismatch.errors ?? []);
    default:
      return UNKNOWN_FORM;
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
  null: "null",
};

const typeWords = (type: unknown) => TYPES[String(type)] ?? "something else";

const FORMATS: Readonly<Record<string, string>> = {
  datetime: "a time such as 2026-03-14T10:00:00Z",
  date: "a date such as 2026-03-14",
  url: "an address such as https://example.org",
  email: "an e-mail address",
  uuid: "a UUID",
};

function atLeast(mismatch: Mismatch): string {
  const least = unit(mismatch, mismatch.minimum);
  if (least !== "" && Number(mismatch.minimum) === 1) return "must not be empty";
  return `must be at least ${mismatch.minimum}${least}`;
}

function unit({ origin }: Mismatch, many: unknown): string {
  const words = origin === "string" ? "character" : origin === "array" ? "entry" : null;
  if (words === null) return "";
  return ` ${Number(many) === 1 ? words : words === "entry" ? "entries" : "characters"} long`;
}

/** Of several forms: the one it nearly has, else all there are. */
function unionWords(forms: readonly (readonly Mismatch[])[]): string {
  const near = forms.map(([first]) => first).find((first) => first !== undefined && first.path.length > 0);
  if (near !== undefined) return mismatchLine(near);
  const types = new Set(
    forms.flatMap(([first]) => (first?.code === "invalid_type" ? [typeWords(first.expected)] : [])),
  );
  return types.size === 0 ? UNKNOWN_FORM : `must be ${[...types].join(" or ")}`;
}

const UNKNOWN_FORM = "is not of a known form";
