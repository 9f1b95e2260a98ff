// What was not made here runs in a sandbox or not at all, unless the person says otherwise at the command line.
import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { contentDigest } from "../../bundle/index.js";
import { NutError } from "../../errors.js";
import type { Context } from "../../operation.js";
import { findBwrap } from "../../process/index.js";
import { readConsentRecord, strangerDigest } from "../records/consent-record.js";
import { bundleDigest } from "./consent.js";

export interface HeldQuestion {
  /** Bundles and folders whose commands or code are about to run, as typed. */
  readonly sources: readonly string[];
  /** --no-sandbox. */
  readonly noSandbox: boolean;
  /** Keys that open a sealed one, besides one's own. */
  readonly identity?: readonly string[];
}

/** Throws SANDBOX_MISSING when somebody else's commands would run in plain sight. A yes to running them is not a yes to that. */
export async function assertHeld(question: HeldQuestion, context: Context): Promise<void> {
  const { sources, noSandbox, identity = [] } = question;
  const bwrap = noSandbox ? null : await findBwrap(context.env);
  if (noSandbox || (bwrap?.network === true && bwrap.accounts)) return;
  for (const source of sources) {
    if (!(await isForeign(resolve(context.cwd, source), identity, context))) continue;
    const why = bwrap?.accounts !== true ? "there is no sandbox to run it in" : OPEN;
    throw new NutError("SANDBOX_MISSING", `${source} was not made here, and ${why}`, {
      hint: "nexus doctor says what is missing (or --no-sandbox: it can then read and change what you can)",
      data: { path: source },
    });
  }
}

const OPEN = "the sandbox here cannot keep it off your network";

async function isForeign(path: string, identity: readonly string[], context: Context): Promise<boolean> {
  if (!existsSync(path)) return false;
  const record = readConsentRecord(context.env);
  const isFolder = statSync(path).isDirectory();
  const known = isFolder ? strangerDigest(path, record) : await bundleDigest(path, identity, context);
  if (known === null) return false;
  return !record.packed.has(known === "" ? contentDigest(path) : known);
}
