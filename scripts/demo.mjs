// `npm start`: the main job on an example, with no key and no network. Works in a temporary folder and says where.
// `npm start 1-bug-fix` (or 3-parallel) takes another example.
import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const name = process.argv[2] ?? "2-feature";
const work = mkdtempSync(join(tmpdir(), "nutcracker-demo-"));
const example = join(root, "examples", name);
const request = join(work, "request.nut");
const delivery = join(work, "delivery.nut");

/** Shows a command as a person would type it, then runs it. A command that fails ends the demo. */
function show(title, program, args) {
  const typed = args.map((arg) => (arg.startsWith(root) ? relative(process.cwd(), arg) : arg));
  console.log(`\n# ${title}\n$ ${program} ${typed.join(" ")}`);
  const { status } = spawnSync(process.execPath, [join(root, "bin", `${program}.js`), ...args], {
    // A demonstration leaves nothing in the home, not even the memory of a request.
    env: { ...process.env, XDG_STATE_HOME: join(work, ".state") },
    cwd: work,
    stdio: "inherit",
  });
  if (status !== 0) process.exit(status ?? 1);
}

show("Is everything there that an agent needs?", "nutshell", ["check", example]);
show("One file to hand over", "nutshell", ["pack", "--dir", example, "-o", request]);
show("Agents work in their roles; the demo agent is a scripted program, no model", "nexus", [
  "run",
  request,
  "--driver",
  "demo",
  "-o",
  delivery,
]);
show("A stranger checks it: hashes, links, and the tests once more", "nutshell", [
  "verify",
  delivery,
  "--request",
  request,
  "--rerun",
]);

console.log(`\nThe delivery is ${delivery}`);
console.log("Next: npx nexus run <your-task.nut> --driver codex (or claude, opencode), npx nutshell help");
