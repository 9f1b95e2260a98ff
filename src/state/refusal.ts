// A refusal the contract names is an answer, not an exception: its text is part of the contract.
export interface Refusal {
  readonly error: string;
}

export function refusal(error: string): Refusal {
  return { error };
}

export function isRefusal(value: unknown): value is Refusal {
  return typeof value === "object" && value !== null && typeof (value as { error?: unknown }).error === "string";
}
