// The tree a reviewer looks at: a copy nobody was in before, made after the last change. What says what was asked for is
// the request's in it, whatever the work made of those files.
import { pathAllowed } from "../../acceptance/index.js";
import type { Slot } from "../../trees/slots.js";
import type { Run } from "../run.js";

export function takeReviewSlot(run: Run): Slot {
  const isKept = isRequests(run);
  return run.slots.takeNew(run.state.versions.map((changes) => changes.filter(({ path }) => !isKept(path))));
}

/** Paths the work changed and the reviewer reads as the request has them. */
export function shownAsRequested(run: Run): string[] {
  const paths = run.state.versions.flatMap((changes) => changes.map(({ path }) => path));
  return [...new Set(paths.filter(isRequests(run)))].sort();
}

/** What the request says about itself: its manifest, tests and documents, unless it names them as what is to be changed. */
function isRequests({ manifest, isOwnTest, start }: Run): (path: string) => boolean {
  const { requirements, architecture, references, additional = [] } = manifest.context ?? {};
  const told = [requirements, architecture, references, ...additional, manifest.apis?.endpoints_spec];
  const documents = new Set(told.map((path) => path?.replace(/^\.\//, "")));
  const subject = manifest.acceptance?.subject ?? [];
  return (path) => start.entries.has(path) && (isOwnTest(path) || documents.has(path)) && !pathAllowed(path, subject);
}
