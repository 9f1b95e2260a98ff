import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { leaveCertificates } from "../scripts/certificates.mjs";
import { lightFork } from "./light-fork.js";
import { memoryFolder } from "./memory-folder.js";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Tests that start the real programs need today's build, whoever runs them. `npm run mutate` builds by itself. */
export default function setup(): (() => void) | undefined {
  leaveCertificates(root);
  build();
  // Workers inherit it, and forget it as they begin.
  const library = process.env.LD_PRELOAD === undefined ? lightFork(root) : null;
  if (library !== null) process.env.LD_PRELOAD = library;
  if (process.env.TMPDIR !== undefined) return undefined;
  const folder = memoryFolder();
  if (folder === null) return undefined;
  process.env.TMPDIR = folder.path;
  process.env.NUTCRACKER_TESTS_IN_MEMORY = folder.path;
  return () => folder.remove();
}

function build(): void {
  if (process.env.NUTCRACKER_NO_BUILD === "1") return;
  execFileSync(process.execPath, ["scripts/build.mjs", "--types"], { cwd: root, stdio: "inherit" });
}
