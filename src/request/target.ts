// Which folder or bundle a command is about, and how the commands it suggests should name it.
import { resolve } from "node:path";
import type { Readable } from "node:stream";
import { z } from "zod";
import { type OpenedContent, openContent } from "../bundle/index.js";
import { NutError } from "../errors.js";
import type { Context } from "../operation.js";

export const Folder = z.string().min(1).optional().describe("folder with a nutshell.json; the current one by default");

export interface Target {
  readonly path: string;
  /** As typed; absent for the current folder. */
  readonly label: string | undefined;
}

export function folderTarget(typed: string | undefined, { cwd }: Pick<Context, "cwd">): Target {
  const path = resolve(cwd, typed ?? ".");
  return { path, label: path === resolve(cwd) ? undefined : typed };
}

/** A folder, a .nut file, or `-` for a bundle on standard input. */
export function openTarget(typed: string, context: Context): Promise<OpenedContent> {
  return openContent(typed === "-" ? standardInput(context) : resolve(context.cwd, typed), { signal: context.signal });
}

function standardInput(context: Context): Readable {
  const input = context.stdin();
  if (input.isTTY === true) {
    throw new NutError("USAGE", "standard input is a terminal, not a bundle", { hint: "nutshell check - < task.nut" });
  }
  return input;
}
