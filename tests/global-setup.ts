import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Tests that start the real programs need today's build, whoever runs them. `npm run mutate` builds by itself. */
export default function setup(): void {
  if (process.env.NUTCRACKER_NO_BUILD === "1") return;
  const root = fileURLToPath(new URL("..", import.meta.url));
  execFileSync(process.execPath, ["scripts/build.mjs", "--types"], { cwd: root, stdio: "inherit" });
}
