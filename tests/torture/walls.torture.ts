// Every attack of tests/walls/README.md: the tests it names are run file by file, none may fail, and each must have as many
// cases as the table says. What was skipped is said, with the reason. Each file has a limit of its own, by the number of attacks
// in it, so that a slow machine takes longer and comes to the end. `-t hooks.test.ts` runs one file.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type Attack, attacks, ROOT } from "../walls/frame.js";

interface Result {
  readonly fullName: string;
  readonly status: string;
}
interface Report {
  readonly testResults: readonly { readonly assertionResults: readonly Result[] }[];
}

/** For one test, and for everything around them: starting, set-up, what else is in the file. */
const PER_ATTACK_MS = 5 * 60_000;
const AROUND_MS = 10 * 60_000;

const all = attacks();
const files = [...new Set(all.map(({ file }) => file))];
const inFile = (file: string) => all.filter((attack) => attack.file === file);
const limitOf = (file: string) =>
  AROUND_MS + PER_ATTACK_MS * inFile(file).reduce((sum, { cases }) => sum + Math.min(cases, 12), 0);

/** A title as it stands in the file: what is filled in for each case may be anything. */
function matcher({ test }: Attack): RegExp {
  const parts = test.split(/%[sdjio]|\$\{[^}]*\}/).map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(parts.join("[\\s\\S]*"));
}

async function run(file: string): Promise<Result[]> {
  const folder = mkdtempSync(join(tmpdir(), "nut-walls-"));
  try {
    const report = join(folder, "report.json");
    const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
    const args = [vitest, "run", "--reporter=json", `--outputFile=${report}`, `--testTimeout=${PER_ATTACK_MS}`, file];
    // Built once, before the first of them.
    const env = { ...process.env, NUTCRACKER_LONG: "1", NUTCRACKER_NO_BUILD: "1" };
    const ran = spawn(process.execPath, args, { cwd: ROOT, env, stdio: "inherit", timeout: limitOf(file) });
    const [, signal] = await once(ran, "exit");
    expect(signal, `${file} did not end within ${limitOf(file) / 60_000} min`).toBeNull();
    const { testResults } = JSON.parse(readFileSync(report, "utf8")) as Report;
    return testResults.flatMap(({ assertionResults }) => assertionResults);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe("no attack succeeds", () => {
  let [tried, skips] = [0, 0];
  afterAll(() => console.log(`${tried} attacks tried, ${skips} tests skipped`));

  for (const file of files) {
    it(
      file,
      async () => {
        const results = await run(file);
        expect(results.filter(({ status }) => status === "failed").map(({ fullName }) => fullName)).toEqual([]);
        const skipped = results.filter(({ status }) => status !== "passed");
        for (const { fullName } of skipped) console.log(`skipped: ${file}: ${fullName}`);
        skips += skipped.length;
        const found = (attack: Attack) => results.filter(({ fullName }) => matcher(attack).test(fullName));
        const rows = inFile(file).map((attack) => ({ attack, found: found(attack) }));
        tried += rows.reduce((sum, row) => sum + row.found.filter(({ status }) => status === "passed").length, 0);
        const short = rows.filter((row) => row.found.length < row.attack.cases);
        expect(short.map((row) => `${row.attack.id}: ${row.attack.cases}, ${row.found.length}`)).toEqual([]);
      },
      limitOf(file) + 60_000,
    );
  }
});
