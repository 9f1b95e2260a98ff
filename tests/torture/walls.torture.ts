// Every attack of tests/walls/README.md: the tests it names are run, none may fail, and each must have as many cases as the
// table says. What was skipped is said, with the reason.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { attacks, ROOT } from "../walls/frame.js";

interface Result {
  readonly fullName: string;
  readonly status: string;
}
interface Report {
  readonly testResults: readonly { readonly name: string; readonly assertionResults: readonly Result[] }[];
}

/** A title as it stands in the file: what is filled in for each case may be anything. */
function matcher(test: string): RegExp {
  const parts = test.split(/%[sdjio]|\$\{[^}]*\}/).map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(parts.join("[\\s\\S]*"));
}

it("no attack succeeds", () => {
  const all = attacks();
  const files = [...new Set(all.map(({ file }) => file))];
  const folder = mkdtempSync(join(tmpdir(), "nut-walls-"));
  try {
    const report = join(folder, "report.json");
    const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
    const args = [vitest, "run", "--reporter=json", `--outputFile=${report}`, "--testTimeout=300000", ...files];
    const env = { ...process.env, NUTCRACKER_LONG: "1" };
    spawnSync(process.execPath, args, { cwd: ROOT, env, stdio: "inherit", timeout: 30 * 60_000 });
    const { testResults } = JSON.parse(readFileSync(report, "utf8")) as Report;
    const results = testResults.flatMap(({ name, assertionResults }) =>
      assertionResults.map((result) => ({ file: name.slice(ROOT.length), ...result })),
    );
    expect(results.filter(({ status }) => status === "failed").map(({ fullName }) => fullName)).toEqual([]);
    const found = (attack: (typeof all)[number]) =>
      results.filter(({ file, fullName }) => file === attack.file && matcher(attack.test).test(fullName));
    const skipped = results.filter(({ status }) => status !== "passed");
    for (const { file, fullName } of skipped) console.log(`skipped: ${file}: ${fullName}`);
    const tried = all.reduce(
      (sum, attack) => sum + found(attack).filter(({ status }) => status === "passed").length,
      0,
    );
    console.log(`${tried} attacks tried, ${skipped.length} tests skipped`);
    const short = all.filter((attack) => found(attack).length < attack.cases);
    expect(
      short.map(({ id, cases, ...attack }) => `${id}: ${cases}, ${found({ id, cases, ...attack }).length}`),
    ).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
