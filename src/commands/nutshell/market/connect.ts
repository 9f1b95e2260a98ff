import { NutError, shellWord } from "../../../errors.js";
import { isLoopback, Market, parseAddress } from "../../../market/index.js";
import type { Context } from "../../../operation.js";

/** Reaches the daemon a command talks to. Traffic that leaves the machine is said. */
export async function connect(clawnet: string | undefined, context: Context): Promise<Market> {
  const base = parseAddress(clawnet);
  if (!isLoopback(base)) {
    context.progress({ type: "warning", message: `${base.origin} is not on this machine; the daemon has no password` });
  }
  return Market.connect(base, { signal: context.signal, typed: clawnet });
}

interface Confirmation {
  readonly yes: boolean;
  readonly question: string;
  /** What to type when nobody can be asked. */
  readonly command: string;
}

/** Asks before something that costs or cannot be undone; without a terminal only `--yes` answers. */
export async function confirm(context: Context, { yes, question, command }: Confirmation): Promise<void> {
  if (yes) return;
  if (context.ask === null) {
    throw new NutError("NO_TERMINAL", `${question}: nobody can answer here`, { hint: `${command} --yes` });
  }
  // Titles are a stranger's words: none of them makes a line of its own.
  if (!(await context.ask.confirm(question.replace(/\s+/g, " ")))) {
    throw new NutError("MARKET_NOT_READY", "not confirmed; nothing was sent", { hint: command });
  }
}

type Typed = string | number | boolean | readonly string[] | undefined;

/** A command line to type again, with what was given the first time. */
export function retyped(words: readonly string[], flags: Readonly<Record<string, Typed>>): string {
  const given = Object.entries(flags).flatMap(([name, value]) => {
    if (value === undefined || value === false) return [];
    if (value === true) return [`--${name}`];
    return (Array.isArray(value) ? value : [value]).flatMap((one) => [`--${name}`, shellWord(String(one))]);
  });
  return ["nutshell", ...words, ...given].join(" ");
}
