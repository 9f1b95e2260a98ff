// Which folder or bundle a command is about, and how the commands it suggests should name it.
import { resolve } from "node:path";
import type { Readable } from "node:stream";
import { type OpenedContent, openContent } from "../../bundle/index.js";
import { NutError } from "../../errors.js";
import type { Context } from "../../operation.js";
import { unsealed } from "../pack/sealed.js";
import { settleFolder } from "../vault/both-or-neither.js";

export interface Target {
  readonly path: string;
  /** As typed; absent for the current folder. */
  readonly label: string | undefined;
}

export function folderTarget(typed: string | undefined, { cwd, env }: Pick<Context, "cwd" | "env">): Target {
  const path = resolve(cwd, typed ?? ".");
  settleFolder(path, { env });
  return { path, label: path === resolve(cwd) ? undefined : typed };
}

/** A folder, a .nut file, or `-` for a bundle on standard input; a sealed one with a named key or one's own. */
export async function openTarget(
  typed: string,
  context: Context,
  identity: readonly string[] = [],
): Promise<OpenedContent> {
  const source = typed === "-" ? standardInput(context, "nutshell check - < task.nut") : resolve(context.cwd, typed);
  if (typeof source === "string") settleFolder(source, context);
  return openContent(await unsealed(source, identity, context), { signal: context.signal });
}

/** A path from where the person stands, or standard input for `-`. */
export function bundleSource(bundle: string, context: Context): string | Readable {
  if (bundle === "-") return standardInput(context, "cat task.nut | nutshell inspect -");
  return resolve(context.cwd, bundle);
}

function standardInput(context: Context, hint: string): Readable {
  const input = context.stdin();
  if (input.isTTY === true) throw new NutError("USAGE", "standard input is a terminal, not a bundle", { hint });
  return input;
}
