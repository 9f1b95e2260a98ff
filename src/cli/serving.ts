// What `nutshell serve` and `nexus board` have in common on the command line.
import { z } from "zod";
import { NutError } from "../errors.js";
import type { Invocation } from "./command.js";
import { flag } from "./fields.js";
import type { Io } from "./io.js";
import { stoppedBy } from "./stopped-by.js";
import { printable } from "./text.js";

export const portFlag = (usual: number) =>
  flag(z.string().optional(), {
    value: "<port>",
    about: `port on 127.0.0.1 (default: ${usual}; 0: any free one)`,
  });

export function readPort(given: string | undefined, usual: number, command: string): number {
  if (given === undefined) return usual;
  const port = Number(given);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535 && given.trim() !== "") return port;
  throw new NutError("USAGE", `--port: "${given}" is not a port`, { hint: `${command} --port ${usual}` });
}

/** A server ends when someone ends it. */
export function interrupted({ signal }: Io): number {
  return stoppedBy(signal.reason);
}

/** What `--json` prints, as soon as there is somewhere to look. */
export const ServingAnswer = z.object({ url: z.string(), port: z.int() });

export interface Tell {
  /** The result: where to look. */
  link(link: string, port: number): void;
  /** The link was used; another browser needs another one. */
  next(link: string): void;
  error(error: unknown): void;
}

export function tell({ program, json, quiet }: Invocation, io: Io): Tell {
  const aside = (text: string) => io.stderr.write(`${program.name}: ${printable(text)}\n`);
  return {
    link: (link, port) => {
      io.stdout.write(json ? `${JSON.stringify({ url: link, port })}\n` : `${link}\n`);
      if (!quiet && !json) aside("open the link above in a browser; it works once. Ctrl-C ends this");
    },
    next: (link) => {
      if (!quiet) aside(`opened; a link for another browser: ${link}`);
    },
    error: (error) => aside(`bug: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`),
  };
}
