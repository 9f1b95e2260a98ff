// The table, against any build: npx tsx tests/liars/run.ts --bin <folder> --all --json
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { record } from "./before.js";
import { believedByChance } from "./chance.js";
import { HONEST } from "./honest.js";
import { type House, judge, judgeHonest, type Verdict } from "./referee.js";
import { honestId } from "./table.js";
import { findTools } from "./tools.js";
import { TRICKS } from "./tricks.js";

const { values } = parseArgs({
  options: {
    bin: { type: "string", default: "." },
    all: { type: "boolean", default: false },
    honest: { type: "boolean", default: false },
    tricks: { type: "boolean", default: false },
    only: { type: "string", multiple: true, default: [] },
    jobs: { type: "string", default: "1" },
    json: { type: "boolean", default: false },
    said: { type: "boolean", default: false },
    soon: { type: "boolean", default: false },
    chance: { type: "string" },
    record: { type: "boolean", default: false },
    short: { type: "boolean", default: false },
    // A long table in parts: each line is kept in this file as it comes, and what is there is not asked again.
    log: { type: "string" },
    // No row is begun after so many minutes.
    minutes: { type: "string" },
  },
});

interface Line {
  readonly id: string;
  readonly kind: "trick" | "honest";
  /** A trick: was it believed. Honest work: was it refused. */
  readonly wrong: boolean | null;
  readonly yes: Verdict["yes"];
  readonly skipped?: string;
  readonly undecidable?: string;
  readonly seconds: number;
}

const folder = resolve(values.bin);
if (!existsSync(join(folder, "dist"))) throw new Error(`${folder} is not built`);
const tools = findTools();
const house: House = { folder, path: tools.path, soon: values.soon, ask: values.short ? "accept" : undefined };
const chosen = (id: string) => values.only.length === 0 || values.only.some((word) => new RegExp(word).test(id));

if (values.chance !== undefined) {
  console.log(JSON.stringify(await believedByChance(house, Number(values.chance))));
  process.exit(0);
}

interface Job {
  readonly id: string;
  readonly kind: Line["kind"];
  readonly needs: readonly string[];
  readonly undecidable?: string;
  readonly ask: () => Promise<Verdict>;
  readonly isWrong: (verdict: Verdict) => boolean;
}

const jobs: Job[] = [
  ...(values.all || values.tricks || !values.honest ? TRICKS : []).map(
    (trick): Job => ({
      id: trick.id,
      kind: "trick",
      needs: trick.world.needs ?? [],
      undecidable: trick.undecidable,
      ask: () => judge(house, trick),
      isWrong: ({ believed }) => believed,
    }),
  ),
  ...(values.all || values.honest ? HONEST : []).map(
    (honest): Job => ({
      id: honestId(honest),
      kind: "honest",
      needs: honest.world.needs ?? [],
      ask: () => judgeHonest(house, honest),
      isWrong: ({ believed }) => !believed,
    }),
  ),
].filter(({ id }) => chosen(id));

async function lineOf(job: Job): Promise<Line> {
  const { id, kind, undecidable } = job;
  const missing = job.needs.filter((program) => !tools.has(program));
  if (missing.length > 0)
    return { id, kind, wrong: null, yes: [], skipped: `${missing.join(", ")} is missing`, seconds: 0 };
  const began = performance.now();
  const verdict = await job.ask();
  const wrong = job.isWrong(verdict);
  const seconds = Math.round((performance.now() - began) / 100) / 10;
  if (values.said) process.stderr.write(`=== ${id}\n${verdict.said}\n`);
  return { id, kind, wrong, yes: verdict.yes, undecidable, seconds };
}

const word = ({ kind, wrong, skipped }: Line) =>
  skipped ?? (kind === "trick" ? (wrong ? "BELIEVED" : "held") : wrong ? "REFUSED" : "done");

const kept: Line[] =
  values.log !== undefined && existsSync(values.log)
    ? readFileSync(values.log, "utf8")
        .split("\n")
        .filter((text) => text !== "")
        .map((text) => JSON.parse(text) as Line)
    : [];
const isOf = (line: Line) => (job: Job) => job.id === line.id && job.kind === line.kind;
const lines = kept.filter((line) => jobs.some(isOf(line)));
const queue = jobs.filter((job) => !lines.some((line) => isOf(line)(job)));
const last = performance.now() + Number(values.minutes ?? "Infinity") * 60_000;
const take = () => (performance.now() < last ? queue.shift() : undefined);
await Promise.all(
  Array.from({ length: Math.max(1, Math.min(2, Number(values.jobs))) }, async () => {
    for (let job = take(); job !== undefined; job = take()) {
      const line = await lineOf(job);
      lines.push(line);
      if (values.log !== undefined) appendFileSync(values.log, `${JSON.stringify(line)}\n`);
      process.stderr.write(`${line.kind} ${line.id}: ${word(line)} [${line.yes.join(" ")}] ${line.seconds} s\n`);
    }
  }),
);

const order = new Map(jobs.map(({ id, kind }, index) => [`${kind} ${id}`, index]));
lines.sort((a, b) => order.get(`${a.kind} ${a.id}`)! - order.get(`${b.kind} ${b.id}`)!);
if (values.json) console.log(JSON.stringify(lines, null, 1));
else for (const line of lines) console.log(`${line.kind}\t${line.id}\t${word(line)}`);
if (values.record)
  record(lines.flatMap(({ id, kind, wrong, yes }) => (kind === "trick" && wrong !== null ? [{ id, yes }] : [])));
const count = (kind: Line["kind"], wrong: boolean | null) =>
  lines.filter((line) => line.kind === kind && line.wrong === wrong).length;
console.error(
  `tricks: ${count("trick", true)} believed, ${count("trick", false)} held, ${count("trick", null)} skipped; ` +
    `honest: ${count("honest", true)} refused, ${count("honest", false)} done, ${count("honest", null)} skipped` +
    (queue.length === 0 ? "" : `; ${queue.length} rows left`),
);
