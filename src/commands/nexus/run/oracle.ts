// An example solution in an agent's place: what a request's own author says is right must come out as completed.
import { lstatSync } from "node:fs";
import { join, resolve } from "node:path";
import { NutError } from "../../../errors.js";

/** What `nutshell import --oracle` writes, and what is run. */
const SCRIPT = "solve.sh";

export interface OracleInput {
  readonly oracle?: string | undefined;
  readonly driver?: string | undefined;
  readonly command?: string | undefined;
  readonly model?: string | undefined;
  readonly plan?: string | undefined;
}

/** `--oracle <dir>` as the driver, line and plan it stands for. Throws USAGE and FILE_NOT_FOUND before anything is made. */
export function withOracle<T extends OracleInput>(input: T, cwd: string): T {
  if (input.oracle === undefined) return input;
  const other = (["driver", "command", "model", "plan"] as const).find((name) => input[name] !== undefined);
  if (other !== undefined) {
    throw new NutError("USAGE", `--oracle and --${other} cannot be combined: the example is the only one that works`, {
      hint: "nexus run --help",
    });
  }
  const script = join(resolve(cwd, input.oracle), SCRIPT);
  if (lstatSync(script, { throwIfNoEntry: false })?.isFile() !== true) {
    throw new NutError(
      "FILE_NOT_FOUND",
      `${input.oracle} holds no ${SCRIPT}, which is what an example solution is run by`,
      {
        hint: "nutshell import <kind> <source> --oracle <dir> writes one",
        data: { path: script },
      },
    );
  }
  return {
    ...input,
    driver: "command",
    command: `sh ${quoted(script)} && echo 'the example solution is in place'`,
    plan: "work",
  };
}

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
