// Two lines for the command driver that are no agents: one does nothing, one hands in a known solution. What they get shows
// what a score of others means.
import { shellWord } from "../errors.js";

export const STAND_INS = ["noop", "oracle"] as const;
export type StandIn = (typeof STAND_INS)[number];

export const isStandIn = (name: string): name is StandIn => (STAND_INS as readonly string[]).includes(name);

export const noopCommand = (): string => "echo nothing was done, on purpose";

/**
 * Lays the folder's files over the work, whatever else is there; where it holds a `solve.sh`, that is run at the root of the
 * work instead. Roles that may not edit say so.
 */
export function oracleCommand(folder: string): string {
  const from = shellWord(folder);
  const script = [
    `if [ "$NEXUS_MAY_EDIT" != 1 ]; then echo an oracle judges nothing; exit 0; fi`,
    // By the program its first line names, where it can be started.
    `if [ -x ${from}/solve.sh ]; then ${from}/solve.sh >&2 || exit 1`,
    `elif [ -f ${from}/solve.sh ]; then sh ${from}/solve.sh >&2 || exit 1`,
    `else cp -R -- ${from}/. . || exit 1; fi`,
    "echo the known solution was handed in",
  ];
  return `sh -c ${shellWord(script.join("\n"))}`;
}
