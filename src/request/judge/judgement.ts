// A person's judgement of a delivery: who looked, when, and why they say so. It is recorded in the delivery for what no
// program can decide; what a program decides is refused here.
import { planChecks } from "../../acceptance/index.js";
import { NutError } from "../../errors.js";
import type { AcceptanceResults, ChecklistResult, CriterionResult, Delivery } from "../../schema/delivery.js";
import type { OpenedFolder } from "../open/work-folder.js";

export interface PersonsJudgement {
  readonly status: "passed" | "failed";
  readonly by: string;
  readonly why: string;
  readonly at: string;
}

/** What of a delivery is for a person, and what is only answered by running it. */
export interface Questions {
  readonly checklist: readonly string[];
  /** Ids of criteria a person judges. */
  readonly criteria: readonly string[];
  /** Ids of criteria that are run. */
  readonly run: readonly string[];
}

/** From the request where it is at hand, else as the delivery itself tells. */
export function questionsOf(delivery: Delivery, target: OpenedFolder, request: OpenedFolder | null): Questions {
  if (request !== null) {
    const { checks } = planChecks(request.dir, request.manifest);
    const ids = (automatic: boolean) => checks.filter((check) => check.automatic === automatic).map(({ id }) => id);
    return { checklist: request.manifest.acceptance?.checklist ?? [], criteria: ids(false), run: ids(true) };
  }
  const { checklist = [], criteria = [] } = delivery.acceptance_results ?? {};
  const forPerson = ({ status, evidence }: CriterionResult) => status === "unknown" || evidence === "judged";
  const items = [...(target.manifest.acceptance?.checklist ?? []), ...checklist.map(({ item }) => item)];
  return {
    checklist: [...new Set(items)],
    criteria: criteria.filter(forPerson).map(({ id }) => id),
    run: criteria.filter((row) => !forPerson(row)).map(({ id }) => id),
  };
}

/** Which of the questions are meant: those that are named, or all that nobody judged yet. */
export function chosen(delivery: Delivery, questions: Questions, named: readonly string[], all: boolean): string[] {
  const possible = [...questions.criteria, ...questions.checklist];
  for (const name of named) {
    if (possible.includes(name)) continue;
    const why = questions.run.includes(name)
      ? `"${name}" is run, not judged`
      : `nothing called "${name}" is for a person to judge`;
    throw new NutError("USAGE", why, {
      hint: "nutshell verify '<delivery>' --request '<request>' lists what there is",
    });
  }
  if (!all) return [...new Set(named)];
  const { checklist = [], criteria = [] } = delivery.acceptance_results ?? {};
  const judged = new Set([
    ...checklist.filter(isJudged).map(({ item }) => item),
    ...criteria.filter(isJudged).map(({ id }) => id),
  ]);
  return possible.filter((name) => !judged.has(name));
}

const isJudged = ({ evidence, judged_by: by }: { evidence?: string | undefined; judged_by?: unknown }): boolean =>
  evidence === "judged" && by !== undefined;

/** The delivery with the judgement in it. Its status follows: completed when nothing is open, partial when someone says no. */
export function withJudgement(
  delivery: Delivery,
  questions: Questions,
  names: readonly string[],
  judgement: PersonsJudgement,
): Delivery {
  const { status, by, why, at } = judgement;
  const words = { status, evidence: "judged" as const, judged_by: by, judged_at: at };
  const given: AcceptanceResults = delivery.acceptance_results ?? {};
  const criteria = put(
    given.criteria ?? [],
    ({ id }) => id,
    names.filter((name) => questions.criteria.includes(name)).map((id) => ({ id, ...words, reason: why })),
  );
  const checklist = put(
    given.checklist ?? [],
    ({ item }) => item,
    names.filter((name) => questions.checklist.includes(name)).map((item) => ({ item, ...words, note: why })),
  );
  const after = statusAfter(delivery.status, questions, { criteria, checklist });
  return {
    ...delivery,
    status: after,
    ...percentageAfter(delivery, after),
    acceptance_results: { ...given, ...countsAfter(given, criteria), criteria, checklist },
  };
}

/** Completed is all of it, and nothing else is. */
function percentageAfter(
  { completion_percentage: before }: Delivery,
  after: Delivery["status"],
): Pick<Delivery, "completion_percentage"> {
  if (before === undefined) return {};
  return { completion_percentage: after === "completed" ? 100 : Math.min(99, before) };
}

/** A delivery that counts its criteria counts them as they are now. */
function countsAfter(given: AcceptanceResults, criteria: readonly CriterionResult[]): Partial<AcceptanceResults> {
  if (given.tests_passed === undefined || given.criteria?.length !== criteria.length) return {};
  const count = (wanted: CriterionResult["status"]) => criteria.filter(({ status }) => status === wanted).length;
  const { tests_for_person: forPerson } = given;
  return {
    ...{ tests_passed: count("passed"), tests_failed: count("failed"), tests_skipped: count("skipped") },
    ...(forPerson === undefined ? {} : { tests_for_person: count("unknown") }),
  };
}

/** Rows that are there are renewed in their place, others come last. */
function put<Row>(rows: readonly Row[], key: (row: Row) => string, fresh: readonly Row[]): Row[] {
  const news = new Map(fresh.map((row) => [key(row), row]));
  const kept = rows.map((row) => ({ ...row, ...news.get(key(row)) }));
  const known = new Set(rows.map(key));
  return [...kept, ...fresh.filter((row) => !known.has(key(row)))];
}

interface Rows {
  readonly criteria: readonly CriterionResult[];
  readonly checklist: readonly ChecklistResult[];
}

function statusAfter(
  before: Delivery["status"],
  { checklist, criteria, run }: Questions,
  results: Rows,
): Delivery["status"] {
  if (before !== "completed" && before !== "partial") return before;
  const silent = before === "completed" ? ("passed" as const) : undefined;
  const row = (id: string) => results.criteria.find((each) => each.id === id);
  const item = (name: string) => results.checklist.find((each) => each.item === name);
  // What is run and not spoken of is left to whoever runs it: it makes nothing completed, and nothing less than that.
  const asked = [...criteria.map((id) => row(id)?.status), ...run.map((id) => row(id)?.status ?? silent)];
  const items = checklist.map((name) => item(name)?.status);
  return [...asked, ...items].every((status) => status === "passed") ? "completed" : "partial";
}
