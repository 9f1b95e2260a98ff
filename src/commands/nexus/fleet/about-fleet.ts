// What asks a server does not know how it was named: what it tells to type is made about that one here (decision 0391).
import { type Finding, NutError } from "../../../errors.js";
import { type FleetInput, fleetWords } from "./server-flags.js";

/** The same command, whose refusals name the server and the user that were typed. */
export function aboutFleet<C extends { readonly run: (...given: never[]) => Promise<unknown> }>(command: C): C {
  const before = command.run as (...given: unknown[]) => Promise<unknown>;
  const run = async (...given: unknown[]) => {
    try {
      return await before.apply(command, given);
    } catch (error) {
      throw named(error, given[0] as FleetInput);
    }
  };
  return { ...command, run } as C;
}

function named(error: unknown, input: FleetInput): unknown {
  if (!(error instanceof NutError) || error.hint === undefined) return error;
  const { code, message, data, cause } = error;
  return new NutError(code, message, { hint: asTyped(error.hint, input), data, cause });
}

/** Commands of a fleet in a sentence, about the server that was typed. A flag that is there already is not said twice. */
export function asTyped(text: string, input: FleetInput): string {
  const words = fleetWords(input).filter((word) => !new RegExp(`${word.split(" ")[0]}[ =]`).test(text));
  return words.length === 0 ? text : text.replace(/\bnexus fleet [a-z]+/g, (line) => [line, ...words].join(" "));
}

export const fixesAt = (findings: readonly Finding[], input: FleetInput): Finding[] =>
  findings.map((finding) => (finding.fix === undefined ? finding : { ...finding, fix: asTyped(finding.fix, input) }));
