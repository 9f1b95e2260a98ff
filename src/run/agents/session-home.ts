// A home for every session, in a folder no agent can write to. A session that goes on comes back to its own, and to no
// other: what it left there is swept of links and devices first, since we are about to write into it.
import { lstatSync, mkdirSync, readlinkSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { sweepFolder } from "../../files/index.js";

/** `from`: the agent whose session is continued. Agents' names are ours. */
export function sessionHome(homes: string, agent: string, from?: string): string {
  mkdirSync(homes, { recursive: true, mode: 0o700 });
  const former = from === undefined ? null : homeOf(homes, from);
  if (former === null) {
    mkdirSync(join(homes, agent), { mode: 0o700 });
    return join(homes, agent);
  }
  sweepFolder(join(homes, former));
  symlinkSync(former, join(homes, agent));
  return join(homes, former);
}

/** The name of an agent's home: its own, or that of the one whose session it continued. */
function homeOf(homes: string, agent: string): string | null {
  const stat = lstatSync(join(homes, agent), { throwIfNoEntry: false });
  if (stat === undefined) return null;
  return stat.isSymbolicLink() ? readlinkSync(join(homes, agent)) : agent;
}
