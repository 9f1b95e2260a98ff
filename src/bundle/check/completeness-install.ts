// What a request says its checks need installed, and lock files of which it says nothing.
import { shellWord } from "../../errors.js";
import { installKind } from "../../schema/install.js";
import { checkReference, resolveReference } from "./completeness-references.js";
import type { Report } from "./report.js";

/** What the checks need installed: a script is in the bundle; a lock file there, or in the repository of the work. */
export async function checkInstall(report: Report): Promise<void> {
  const { manifest, content, pass, warn, command } = report;
  const { install } = manifest.acceptance ?? {};
  for (const step of install ?? []) {
    const path = typeof step === "string" ? step : step.path;
    const kind = installKind(path);
    if (kind === "script") {
      await checkReference(report, { field: "acceptance.install", path, purpose: "the checks lack what it installs" });
    } else {
      const where = content.files.has(resolveReference(path) ?? "") ? "" : ", in the repository of the work";
      pass("acceptance.install", `${path} (${kind}${where})`);
    }
  }
  if (install !== undefined) return;
  for (const path of content.files.keys()) {
    if (installKind(path) === "script" || path.split("/").length > LOCK_DEPTH || !(await locksAnything(report, path)))
      continue;
    warn({
      code: "INSTALL_UNSAID",
      path: "acceptance.install",
      message: `${path} is there, but nothing says to install it: the checks run without its packages`,
      fix: command(`set acceptance.install ${shellWord(path)} --append`),
    });
  }
}

/** Further down they belong to examples and test data. */
const LOCK_DEPTH = 2;

async function locksAnything({ content }: Report, path: string): Promise<boolean> {
  const text = Buffer.from(await content.read(path)).toString("utf8");
  if (path.endsWith(".json")) return text.includes('"node_modules/');
  return text.split("\n").some((line) => /^\s*[^\s#]/.test(line));
}
