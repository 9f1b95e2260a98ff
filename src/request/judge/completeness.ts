import { assess, openContent } from "../../bundle/index.js";
import { NutError, shellWord } from "../../errors.js";
import type { Context } from "../../operation.js";
import { unsealed } from "../pack/sealed.js";

/**
 * An agent would only guess what a request lacks, so it is judged as `nutshell check` judges it, on the same bundle or
 * folder, before anybody works. Throws BUNDLE_INCOMPLETE.
 */
export async function assertReady(request: string, identity: readonly string[], context: Context): Promise<void> {
  const { now, signal } = context;
  const content = await openContent(await unsealed(request, identity, context), { signal });
  try {
    const { status, missing, findings } = await assess(content, { now: now(), dir: request });
    if (status === "ready") return;
    const first = findings[0]!;
    const state = status === "draft" ? "still a draft" : "incomplete";
    const more = missing.length > 1 ? ` (and ${missing.length - 1} more)` : "";
    throw new NutError("BUNDLE_INCOMPLETE", `the request is ${state}: ${first.path}: ${first.message}${more}`, {
      hint: `nutshell check ${shellWord(request)}`,
      data: { missing },
    });
  } finally {
    await content.close();
  }
}
