// The table of attacks: tests/walls/attacks/<part>.json, one file for each part. A row says what is tried and which test tries it.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const FOLDER = join(ROOT, "tests/walls/attacks");

export interface Attack {
  readonly id: string;
  readonly part: string;
  /** Reads on from "somebody tries to". */
  readonly tries: string;
  readonly file: string;
  /** Part of the test's title, as it stands in the file. */
  readonly test: string;
  /** How many rows the test has. */
  readonly cases: number;
}

export const PARTS: readonly string[] = ["checks", "agents", "hooks", "bundles", "network", "market"];

export function attacks(): Attack[] {
  return readdirSync(FOLDER)
    .sort((a, b) => PARTS.indexOf(a.replace(".json", "")) - PARTS.indexOf(b.replace(".json", "")))
    .flatMap((name) => {
      const rows = JSON.parse(readFileSync(join(FOLDER, name), "utf8")) as Omit<Attack, "part">[];
      return rows.map((row) => ({ ...row, part: name.replace(".json", ""), cases: row.cases ?? 1 }));
    });
}

/** tests/walls/README.md. */
export function page(all: readonly Attack[]): string {
  const total = all.reduce((sum, { cases }) => sum + cases, 0);
  return [
    "# Attacks",
    "",
    "What a stranger's request, an agent or a daemon tries, and the test that fails when it succeeds.",
    "Made from `attacks/*.json` by `npx vitest run tests/walls/frame.test.ts -u`; to add one, write its test and a row.",
    "`npm test` runs them with everything else and says what it skipped and for want of what; `npm run torture` runs every",
    "test named here and counts them.",
    "",
    `${total} attacks in ${PARTS.length} parts.`,
    ...PARTS.flatMap((part) => [
      "",
      `## ${part}`,
      "",
      "| id | somebody tries to | tested by | cases |",
      "|---|---|---|---|",
      ...all
        .filter((attack) => attack.part === part)
        .map(
          ({ id, tries, file, test, cases }) =>
            `| ${id} | ${tries} | \`${file}\`: ${test.replaceAll("|", "\\|")} | ${cases} |`,
        ),
    ]),
    "",
  ].join("\n");
}
