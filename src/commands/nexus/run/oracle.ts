// An example solution in an agent's place: what a request's own author says is right must come out as completed.
import { lstatSync } from "node:fs";
import { resolve } from "node:path";
import { NutError } from "../../../errors.js";

export interface OracleInput {
  readonly oracle?: string | undefined;
  readonly driver?: string | undefined;
  readonly command?: string | undefined;
  readonly model?: string | undefined;
  readonly plan?: string | undefined;
}

/** Its driver, and the plan that has nobody else in it. */
const STANDS_FOR = { driver: "oracle", plan: "work" } as const;

/** `--oracle <dir>` as the driver and plan it stands for. Throws USAGE and FILE_NOT_FOUND before anything is made. */
export function withOracle<T extends OracleInput>(input: T, cwd: string): T {
  if (input.oracle === undefined) return input;
  const said = { ...input, ...(input.driver === STANDS_FOR.driver ? { driver: undefined } : {}) };
  const other = (["driver", "command", "model", "plan"] as const).find(
    (name) => said[name] !== undefined && !(name === "plan" && said.plan === STANDS_FOR.plan),
  );
  if (other !== undefined) {
    throw new NutError("USAGE", `--oracle and --${other} cannot be combined: the example is the only one that works`, {
      hint: "nexus run --help",
    });
  }
  const folder = resolve(cwd, input.oracle);
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new NutError("FILE_NOT_FOUND", `${input.oracle} is no folder with an example solution`, {
      hint: "nutshell import <kind> <source> --oracle <dir> writes one",
      data: { path: folder },
    });
  }
  return { ...input, ...STANDS_FOR, oracle: folder };
}
