import { existsSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { z } from "zod";
import { command } from "../../../cli/command.js";
import { flag, positional } from "../../../cli/fields.js";
import { holdLess, holdLessFor } from "../../../cli/hold-less.js";
import { bold, cyan, dim, table, yellow } from "../../../cli/text.js";
import { NutError, shellWord } from "../../../errors.js";
import { bundleDigest } from "../../../request/consent/consent.js";
import { peekRequest } from "../../../run/index.js";
import { Try } from "../../../schema/scorecard.js";
import { bestOf, RULE } from "../../../scorecard/index.js";
import { readContenders } from "./contenders.js";
import { everybody, keepBest, makeTries, Unbegun } from "./make-tries.js";
import { raceFlags } from "./race-flags.js";
import { tryCells, tryHead } from "./race-text.js";
import { assertOurs, type Subject, Tries } from "./tries.js";

export default command({
  name: "race",
  summary: "one request by several programs, and the best delivery",
  input: z.object({
    request: positional(z.string().min(1), { about: "a request bundle (.nut) or its folder" }),
    ...raceFlags,
    oracle: flag(z.string().min(1).optional(), {
      value: "<dir>",
      about: "a known solution, laid over the request: its row shows what can be reached",
    }),
    output: flag(z.string().min(1).optional(), {
      short: "o",
      value: "<dir>",
      about: "where deliveries go (default: a folder named after the request)",
    }),
  }),
  output: z.object({
    type: z.literal("result"),
    request: z.string(),
    folder: z.string(),
    rule: z.string().describe("which delivery is the best"),
    best: z.object({ contender: z.string(), trial: z.int(), path: z.string(), outcome: z.string() }).nullable(),
    tries: z.array(Try),
    unbegun: z.array(Unbegun).describe("tries that were refused before they began"),
    rows: z.array(z.string()).describe("everybody in the table, noop and oracle included"),
  }),
  about: [
    "Every program works on the request in trees of its own, side by side. noop, which does nothing, and oracle, a known solution, are always in the table: what they get shows what a result means.",
    `The best delivery is kept as best.nut, the others lie beside it. Best is: ${RULE}.`,
    "Stopped, the same command goes on where it was. Exit 0: the best is completed; 1: nobody completed it.",
  ],
  examples: [
    ["nexus race task.nut --with codex --with claude:opus", "two programs, one try each"],
    ["nexus race task.nut --with codex --trials 3 --budget cost=2", "three tries, each within a limit"],
    [
      "nexus race task.nut --with 'mine=command:./agent.sh' --oracle solution",
      "one's own program, and what can be reached",
    ],
  ],
  stream: true,
  async run({ request, oracle, output, ...flags }, context) {
    const contenders = readContenders(flags.with, context.typed);
    const path = resolve(context.cwd, request);
    const identity = flags.identity.map((file) => resolve(context.cwd, file));
    if (flags.repo === undefined) holdLessFor(path);
    else holdLess();
    const { slug } = await peekRequest(path, identity, context);
    const folder = resolve(context.cwd, output ?? `${slug}-race`);
    assertOurs(folder);
    const subject: Subject = {
      name: slug,
      path,
      digest: await bundleDigest(path, identity, context),
      ...(oracle === undefined ? {} : { oracle: existingFolder(resolve(context.cwd, oracle)) }),
    };
    const goOn = "the same command once more";
    const tries = new Tries(folder);
    const { tries: all, unbegun } = await makeTries({ subjects: [subject], contenders, flags, tries, goOn }, context);
    const won = bestOf(all.filter(({ contender }) => contenders.some(({ label }) => label === contender)));
    rmSync(join(folder, "best.nut"), { force: true });
    return {
      type: "result" as const,
      request: path,
      folder,
      rule: RULE,
      best:
        won === null
          ? null
          : {
              contender: won.contender,
              trial: won.trial,
              path: keepBest(folder, won.result!.delivery!),
              outcome: won.result!.outcome,
            },
      tries: all,
      unbegun,
      rows: everybody(contenders).map(({ label }) => label),
    };
  },
  text: ({ tries, unbegun, rows, best, rule, request }) => [
    ...table([
      tryHead().map((word) => bold(word)),
      ...rows.flatMap((label) => {
        const own = tries.filter(({ contender }) => contender === label).map(tryCells);
        const refused = unbegun.filter(({ contender }) => contender === label).map(({ why }) => [label, yellow(why)]);
        const none = [[label, dim("not known: --oracle <dir> names a solution")]];
        return own.length + refused.length === 0 ? none : [...own, ...refused];
      }),
    ]),
    "",
    ...(best === null
      ? ["nobody delivered anything worth keeping"]
      : [
          `${bold("best")}: ${best.contender}${best.trial === 1 ? "" : ` (try ${best.trial})`}, ${best.path}`,
          dim(`by this rule: ${rule}`),
          `check it: ${cyan(`nutshell verify ${shellWord(best.path)} --request ${shellWord(request)} --rerun`)}`,
        ]),
  ],
  exit: ({ best }) => (best?.outcome === "completed" ? 0 : 1),
});

function existingFolder(path: string): string {
  if (existsSync(path)) return path;
  throw new NutError("FILE_NOT_FOUND", `${path}: no such folder`, { data: { path } });
}
