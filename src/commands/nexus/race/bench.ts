import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { bold, count, dim, table, yellow } from "../../../cli/text.js";
import { fromSystemError, NutError } from "../../../errors.js";
import { replaceFiles } from "../../../files/index.js";
import type { Context } from "../../../operation.js";
import { bundleDigest } from "../../../request/consent/consent.js";
import { ScoreRow, Try } from "../../../schema/scorecard.js";
import { isSolved, rowsOf, scorecardPage } from "../../../scorecard/index.js";
import { VERSION } from "../../../version.js";
import { readContenders } from "./contenders.js";
import { everybody, makeTries, Unbegun } from "./make-tries.js";
import { raceFlags } from "./race-flags.js";
import { scoreCells, scoreHead } from "./race-text.js";
import { assertOurs, type Subject, Tries } from "./tries.js";

export default command({
  name: "bench",
  summary: "many requests by several programs: who solves how many",
  input: z.object({
    folder: positional(z.string().min(1), {
      about: "a folder of requests: .nut files, or folders with a nutshell.json",
    }),
    ...raceFlags,
    oracle: flag(z.string().min(1).optional(), {
      value: "<dir>",
      about: "known solutions, one folder for each request, under the request's name",
    }),
    output: flag(z.string().min(1).default("nexus-bench"), {
      short: "o",
      value: "<dir>",
      about: "where tries, deliveries and the scorecard go",
    }),
  }),
  output: z.object({
    type: z.literal("result"),
    version: z.string(),
    at: z.string(),
    folder: z.string(),
    page: z.string().describe("the scorecard as one HTML file"),
    requests: z.array(z.object({ name: z.string(), digest: z.string() })),
    rows: z.array(ScoreRow),
    warnings: z.array(z.string()),
    tries: z.array(Try),
    unbegun: z.array(Unbegun).describe("tries that were refused before they began"),
  }),
  about: [
    "Every request is tried by everybody, as in nexus race; a try counts as solved when its delivery is completed. Rates come with Wilson's 95 % interval.",
    "noop and oracle are always in the table, and count where every criterion passes: a request that noop solves proves nothing, and one that the oracle does not solve cannot be solved here. Tries are kept in the folder: stopped, the same command goes on; a further --with adds a row; a request that was changed is tried anew.",
    "Writes scorecard.json and scorecard.html there. Exit 0: all tries have ended; 1: some were refused or can still go on.",
  ],
  examples: [
    ["nexus bench tasks --with codex --with claude:opus --trials 3", "three tries of each"],
    ["nexus bench tasks --with codex --oracle solutions -o scores --jobs 8", "eight agents at a time"],
  ],
  stream: true,
  async run({ folder, oracle, output, ...flags }, context) {
    const contenders = readContenders(flags.with, context.typed);
    const target = resolve(context.cwd, output);
    assertOurs(target);
    const subjects = await subjectsIn(resolve(context.cwd, folder), flags.identity, oracle, context);
    const tries = new Tries(target);
    const goOn = "the same command once more";
    const { tries: all, unbegun } = await makeTries({ subjects, contenders, flags, tries, goOn }, context);
    const contestants = everybody(contenders).map(({ label, standIn }) => ({ label, standIn }));
    const rows = rowsOf(contestants, all);
    const refused = unbegun.map(({ contender, request, why }) => `${contender} could not begin ${request}: ${why}`);
    const warnings = [...warningsOf(all), ...refused];
    const result = {
      type: "result" as const,
      version: VERSION,
      at: context.now().toISOString(),
      folder: target,
      page: join(target, "scorecard.html"),
      requests: subjects.map(({ name, digest }) => ({ name, digest })),
      rows,
      warnings,
      tries: all,
      unbegun,
    };
    const page = scorecardPage({
      title: `Scorecard of ${subjects.length === 1 ? "1 request" : `${subjects.length} requests`}`,
      about: [
        `Made by nexus ${VERSION} on ${result.at.slice(0, 10)}. Solved means that the delivery is completed: its acceptance was run by the harness, not told by the agent.`,
        "noop does nothing, oracle hands in a known solution; neither is an agent, and nobody judges a checklist for them: what counts there is that every criterion passes.",
      ],
      rows,
      requests: subjects.map(({ name }) => name),
      tries: all,
      warnings,
    });
    replaceFiles([
      { path: join(target, "scorecard.json"), data: Buffer.from(`${JSON.stringify(result, null, 2)}\n`) },
      { path: result.page, data: Buffer.from(page) },
    ]);
    return result;
  },
  text: ({ rows, warnings, page, requests, tries }) => [
    ...table([scoreHead().map((word) => bold(word)), ...rows.map(scoreCells)]),
    "",
    ...(rows.at(-1)?.tries === 0 ? ["oracle: not known; --oracle <dir> names known solutions"] : []),
    ...warnings.map((line) => yellow(line)),
    dim(`${count(requests.length, "request")}, ${tries.length} tries; ${page}`),
  ],
  exit: ({ tries, unbegun }) => (unbegun.length === 0 && tries.every(({ result }) => result?.final === true) ? 0 : 1),
});

/** Deep enough for any set that is sorted by language or kind. */
const DEPTH = 4;

async function subjectsIn(
  folder: string,
  identity: readonly string[],
  oracle: string | undefined,
  context: Context,
): Promise<Subject[]> {
  const found = requestsIn(folder, DEPTH);
  if (found.length === 0) {
    throw new NutError("FILE_NOT_FOUND", `${folder} holds no requests`, {
      hint: "nexus bench '<folder of .nut files, or of folders with a nutshell.json>' --with codex",
      data: { path: folder },
    });
  }
  const keys = identity.map((file) => resolve(context.cwd, file));
  const all: Subject[] = [];
  for (const path of found) {
    const name = relative(folder, path).replace(/\.nut$/, "");
    const solution = oracle === undefined ? undefined : join(resolve(context.cwd, oracle), name);
    const known = solution !== undefined && existsSync(solution) ? { oracle: solution } : {};
    all.push({ name, path, digest: await bundleDigest(path, keys, context), ...known });
  }
  return all;
}

/** In the order of their names; nothing inside a request is looked at. */
function requestsIn(folder: string, depth: number): string[] {
  let names: string[];
  try {
    names = readdirSync(folder).sort();
  } catch (error) {
    throw fromSystemError(error, folder) ?? error;
  }
  return names.flatMap((name) => {
    const path = join(folder, name);
    if (name.startsWith(".")) return [];
    if (!statSync(path).isDirectory()) return name.endsWith(".nut") ? [path] : [];
    if (isRequest(path)) return [path];
    return depth > 1 ? requestsIn(path, depth - 1) : [];
  });
}

function isRequest(folder: string): boolean {
  try {
    return JSON.parse(readFileSync(join(folder, "nutshell.json"), "utf8")).bundle_type === "request";
  } catch {
    return false;
  }
}

/** What a reader must know before believing a rate. */
function warningsOf(tries: readonly Try[]): string[] {
  const of = (label: string, solved: boolean) =>
    tries.flatMap(({ contender, request, result }) =>
      contender === label && result?.final === true && isSolved(true, result) === solved ? [request] : [],
    );
  const empty = of("noop", true);
  const hard = of("oracle", false);
  return [
    ...(empty.length === 0 ? [] : [`solved by doing nothing, so solving them proves nothing: ${empty.join(", ")}`]),
    ...(hard.length === 0 ? [] : [`not solved by the known solution, so perhaps nobody can here: ${hard.join(", ")}`]),
  ];
}
