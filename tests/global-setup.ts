import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { leaveCertificates } from "../scripts/certificates.mjs";
import { memoryFolder } from "./memory-folder.js";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Tests that start the real programs need today's build, whoever runs them. `npm run mutate` builds by itself. */
export default function setup(): (() => void) | undefined {
  leaveCertificates(root);
  build();
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
