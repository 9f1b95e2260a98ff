// `--with`: who takes part, as a person names it.
import { DRIVER_NAMES, isDriverName, isStandIn } from "../../../drivers/index.js";
import { NutError } from "../../../errors.js";

export interface Contender {
  /** What tables and files call it. */
  readonly label: string;
  readonly driver: string;
  readonly model?: string;
  readonly command?: string;
  /** All of the above in one line: another one under the same label is somebody else. */
  readonly program: string;
  readonly standIn: boolean;
}

/** These take a program's line after the colon, the others a model. */
const TAKE_A_LINE: readonly string[] = ["acp", "command"];

/** `codex`, `claude:opus`, `command:./my-agent`, each with a label of its own before `=` if wanted. */
export function readContender(word: string): Contender {
  const [, label, rest] = /^(?:([\p{L}\p{N}._-]+)=)?(.+)$/su.exec(word) ?? [];
  const [, driver = "", , tail] = /^([^:]*)(:(.*))?$/s.exec(rest ?? "") ?? [];
  if (!isDriverName(driver) && driver !== "demo") throw unknown(word, driver);
  const isLine = TAKE_A_LINE.includes(driver);
  if (tail?.trim() === "" || (isLine && tail === undefined)) {
    throw new NutError(
      "USAGE",
      `--with ${word}: ${driver} needs ${isLine ? "a program's line" : "a model"} after the colon`,
      {
        hint: `nexus race task.nut --with ${isLine ? `'${driver}:./my-agent'` : driver}`,
      },
    );
  }
  return {
    label: label ?? (isLine || tail === undefined ? driver : `${driver}:${tail}`),
    driver,
    ...(tail === undefined ? {} : isLine ? { command: tail } : { model: tail }),
    program: tail === undefined ? driver : `${driver}:${tail}`,
    standIn: false,
  };
}

function unknown(word: string, driver: string): NutError {
  if (isStandIn(driver)) {
    return new NutError("USAGE", `--with ${word}: ${driver} is always in the table`, {
      hint: "name a program beside it: --with codex (and --oracle '<dir>' for the oracle's row)",
    });
  }
  return new NutError("USAGE", `--with ${word}: there is no driver "${driver}"`, {
    hint: `name one of demo, ${DRIVER_NAMES.join(", ")}: nexus race task.nut --with codex --with claude:opus`,
  });
}

/** In their order, and each under one name. Throws for two that would be one in every table. */
export function readContenders(words: readonly string[], typed = "nexus race task.nut"): Contender[] {
  const all = words.map(readContender);
  if (all.length === 0) {
    throw new NutError("USAGE", "nobody takes part", { hint: `${typed} --with codex --with claude:opus` });
  }
  const files = all.map(({ label }) => fileName(label));
  const twice = all.find((_, at) => files.indexOf(files[at]!) !== at);
  if (twice === undefined) return all;
  throw new NutError("USAGE", `two take part as ${twice.label}`, {
    hint: `give one a name of its own: --with 'second=${twice.program}'; --trials has one try again`,
  });
}

export const NOOP: Contender = { label: "noop", driver: "noop", program: "noop", standIn: true };
export const ORACLE: Contender = { label: "oracle", driver: "oracle", program: "oracle", standIn: true };

/** A label as part of a file's name. */
export const fileName = (label: string): string => label.replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^[.-]+|-+$/g, "");
