// Runs every bench/*.bench.ts, or those named: npm run bench -- bundle state
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { leaveCertificates } from "./certificates.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const words = process.argv.slice(2);
const names = words.filter((word) => !word.startsWith("-"));
const flags = words.filter((word) => word.startsWith("-"));
const all = readdirSync(`${root}bench`)
  .filter((file) => file.endsWith(".bench.ts"))
  .map((file) => file.slice(0, -".bench.ts".length));
const unknown = names.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  console.error(`bench: no ${unknown.join(", ")}; there are ${all.join(", ")}`);
  process.exit(2);
}
leaveCertificates(root);
for (const name of names.length > 0 ? names : all) {
  console.log(`\n# ${name}`);
  const args = ["--import", "tsx", `bench/${name}.bench.ts`, ...flags];
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
}
