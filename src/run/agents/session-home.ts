// A home for every session, in a folder no agent can write to. A session that goes on comes back to its own, and to no
// other: what it left there is swept of links and devices first, since we are about to write into it.
import { lstatSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { removeFolder, sweepFolder } from "../../files/index.js";

/** `agent`: whose session it was at first. Its name is ours. */
export function sessionHome(homes: string, agent: string, { goesOn }: { readonly goesOn: boolean }): string {
  const home = join(homes, agent);
  mkdirSync(homes, { recursive: true, mode: 0o700 });
  if (goesOn && lstatSync(home, { throwIfNoEntry: false })?.isDirectory() === true) sweepFolder(home);
  else {
    // Left by a session of this name whose run was killed before it was recorded.
    removeFolder(home);
    mkdirSync(home, { mode: 0o700 });
  }
  return home;
}
