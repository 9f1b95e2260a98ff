// `npm start`: the main job on an example, with no key and no network. Works in a temporary folder and says where.
import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const work = mkdtempSync(join(tmpdir(), "nutcracker-demo-"));
const example = join(root, "examples", "1-bug-fix");
const bundle = join(work, "bug-fix.nut");
const copy = join(work, "unpacked");

/** Shows a command as a person would type it, then runs it. A command that fails ends the demo. */
function show(title, args) {
  const typed = args.map((arg) => (arg.startsWith(root) ? relative(process.cwd(), arg) : arg));
  console.log(`\n# ${title}\n$ nutshell ${typed.join(" ")}`);
  const { status } = spawnSync(process.execPath, [join(root, "bin", "nutshell.js"), ...args], { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

show("Is everything there that an agent needs?", ["check", example]);
show("One file to hand over", ["pack", "--dir", example, "-o", bundle]);
show("What does it hold? Nothing is unpacked for this", ["inspect", bundle]);
show("On the other side: unpack, every hash checked", ["unpack", bundle, "-o", copy]);
show("The bundle against the specification", ["validate", bundle]);
show("And nothing was lost on the way", ["diff", bundle, copy]);

console.log(`\nEverything is in ${work}`);
console.log("Next: npx nutshell help, npx nexus help");
