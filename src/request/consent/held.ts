// What was not made here runs in a sandbox or not at all, unless the person says otherwise at the command line.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { NutError } from "../../errors.js";
import type { Context } from "../../operation.js";
import { findBwrap } from "../../process/index.js";
import { readConsentRecord } from "../records/consent-record.js";
import { digestAsked, type Looked } from "./consent.js";

export interface HeldQuestion {
  /** Bundles and folders whose commands or code are about to run, as typed. */
  readonly sources: readonly string[];
  /** --no-sandbox. */
  readonly noSandbox: boolean;
  /** Keys that open a sealed one, besides one's own. */
  readonly identity?: readonly string[];
}

/**
 * Throws SANDBOX_MISSING when somebody else's commands would run in plain sight. A yes to running them is not a yes to that.
 * Returns what was looked at, as a consent does.
 */
export async function assertHeld(question: HeldQuestion, context: Context): Promise<Looked> {
  const { sources, noSandbox, identity = [] } = question;
  const digests = new Map<string, string>();
  const lack = noSandbox ? null : await lackOfSandbox(context);
  if (lack === null) return { digests };
  for (const source of sources) {
    const path = resolve(context.cwd, source);
    const asked = existsSync(path) ? await digestAsked(path, identity, context) : null;
    if (asked === null) continue;
    if (asked.isSeen) digests.set(path, asked.digest);
    if (!readConsentRecord(context.env).packed.has(asked.digest)) throw notHeld(source, lack);
  }
  return { digests };
}

/** Why nothing of a stranger's can be held here; null when it can. */
export async function lackOfSandbox({ env }: Pick<Context, "env">): Promise<string | null> {
  const bwrap = await findBwrap(env);
  if (bwrap?.accounts !== true) return "there is no sandbox to run it in";
  return bwrap.network ? null : OPEN;
}

export function notHeld(source: string, lack: string): NutError {
  return new NutError("SANDBOX_MISSING", `${source} was not made here, and ${lack}`, {
    hint: "nexus doctor says what is missing (or --no-sandbox: it can then read and change what you can)",
    data: { path: source },
  });
}

const OPEN = "the sandbox here cannot keep it off your network";
