// `--apply-to-branch`: completed work of a repository run becomes a branch there, as `nutshell apply --branch` makes one.
import { join } from "node:path";
import { unpackBundle } from "../../../bundle/index.js";
import { NutError, shellWord } from "../../../errors.js";
import type { Context } from "../../../operation.js";
import { applyDelivery } from "../../../request/apply/apply-delivery.js";
import { assertNewBranch } from "../../../request/apply/bring-in.js";
import { readDelivery } from "../../../request/apply/delivered.js";
import { withWorkFolder } from "../../../request/open/work-folder.js";
import type { RunOptions } from "../../../schema/run.js";
import type { RunResult } from "./result.js";

type Wanted = Pick<RunOptions, "repo" | "apply_to_branch">;

/** Before an agent is paid for: the branch can be made. */
export async function assertBranchFits({ repo, apply_to_branch: name }: Wanted, context: Context): Promise<void> {
  if (name === undefined) return;
  if (repo === undefined) {
    throw new NutError("USAGE", "--apply-to-branch needs --repo", {
      hint: `the same, with: --repo '<repository>' --apply-to-branch ${shellWord(name)}`,
    });
  }
  await assertNewBranch(repo, name, context);
}

/** Work that is less than completed stays in its delivery, and so does what no branch can hold; the line to bring it in is told. */
export async function toBranch(result: RunResult, wanted: Wanted, context: Context): Promise<RunResult> {
  const { delivery, recorded } = result;
  const { repo, apply_to_branch: name } = wanted;
  if (name === undefined || repo === undefined || delivery === undefined || recorded === true) return result;
  if (delivery.result.status !== "completed") {
    context.progress({ type: "warning", message: `not on branch ${name}: the work is ${delivery.result.status}` });
    return result;
  }
  await withWorkFolder(context, async (work) => {
    const { dir, manifest } = await unpackBundle(delivery.path, join(work, "delivery"), {
      signal: context.signal,
      trustAll: true,
    });
    const request = { name: delivery.path, dir, manifest, delivery: readDelivery(dir, manifest), repo, work };
    await applyDelivery({ ...request, mode: { kind: "branch", name }, trust: [], allowDirty: false }, context);
  });
  return { ...result, delivery: { ...delivery, branch: name } };
}
