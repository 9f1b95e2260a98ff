// What a person reads at the end of a run.

import { bold, count, dim, green, red, table, yellow } from "../../../cli/text.js";
import { shellWord } from "../../../errors.js";
import { useWords } from "../../../request/vault/use-of-credential.js";
import { identityWords } from "../../nutshell/flags.js";
import type { RunResult } from "./result.js";

export function runText(result: RunResult): string[] {
  if (result.plan !== undefined) return planText(result.plan);
  if (result.paused !== undefined) {
    return [`${yellow("paused")}: ${result.paused.message}`, `go on with: ${result.paused.hint}`];
  }
  if (result.delivery === undefined) return [];
  const before = "this run was finished before; nothing was run now, and this is what it recorded then:";
  return [...(result.recorded === true ? [yellow(before)] : []), ...deliveryText(result.delivery)];
}

/** 0 only for work that was proven, and just now. */
export function runExit({ status, delivery, recorded }: RunResult): number {
  if (status === "planned") return 0;
  if (recorded === true) return 1;
  return delivery?.result.status === "completed" ? 0 : 1;
}

function deliveryText({ path, request, base, identity, branch, result }: NonNullable<RunResult["delivery"]>): string[] {
  const { status, acceptance_results: acceptance = {}, artifacts = {}, execution_log: log = {} } = result;
  const paint = status === "completed" ? green : status === "failed" ? red : yellow;
  const share = result.completion_percentage;
  // Older versions wrote 100 % of work that was not completed.
  const percent = share === undefined || (share === 100 && status !== "completed") ? "" : ` (${share} %)`;
  const lines = [`${paint(status)}${percent}: ${result.summary ?? ""}`, ""];
  for (const { id, status: own, description, reason, proves_nothing } of acceptance.criteria ?? []) {
    const note = proves_nothing ? " (guards, proves nothing)" : reason === undefined ? "" : `: ${reason}`;
    lines.push(`  ${mark(own)} ${id}${description === undefined ? "" : ` ${description}`}${note}`);
  }
  for (const { item, status: own, note, evidence = "judged" } of acceptance.checklist ?? []) {
    lines.push(`  ${mark(own)} ${item} ${dim(`${evidence}${note === undefined ? "" : `: ${note}`}`)}`);
  }
  const { files_created: created = [], files_modified: modified = [], files_deleted: deleted = [] } = artifacts;
  lines.push(
    "",
    `  ${count(created.length, "file")} created, ${modified.length} modified, ${deleted.length} deleted; ` +
      `${count(result.deliverer?.sessions_used ?? 0, "session")}, ${count(result.deliverer?.total_tokens ?? 0, "token")}`,
  );
  const failed = (acceptance.criteria ?? []).filter((criterion) => criterion.status === "failed");
  for (const issue of log.issues_encountered ?? []) {
    const words = typeof issue === "string" ? issue : JSON.stringify(issue);
    // What fails now is told above, with its reason.
    if (!failed.some(({ id }) => words.startsWith(`${id} fails: `)))
      lines.push(`  ${yellow("!")} on the way: ${words}`);
  }
  const waiting = (acceptance.criteria ?? []).filter((criterion) => criterion.status === "unknown").length;
  const against = base === undefined ? "" : ` --base ${shellWord(base)}`;
  const keys = identityWords(identity);
  const bringIn = base === undefined ? [] : [bringInText(path, base, branch)];
  return [
    ...lines,
    "",
    `${bold("delivery")}: ${path}`,
    ...(waiting === 0 ? [] : [personText(waiting, path, request, keys)]),
    dim(`check it: nutshell verify ${shellWord(path)} --request ${shellWord(request)}${against}${keys} --rerun`),
    ...bringIn,
  ];
}

/** Where the work is, or the one line that brings it in. */
function bringInText(path: string, repo: string, branch: string | undefined): string {
  if (branch !== undefined)
    return `${green("✓")} it is on branch ${branch}; undo: git -C ${shellWord(repo)} branch -D ${shellWord(branch)}`;
  return `bring it in: nutshell apply ${shellWord(path)} --repo ${shellWord(repo)} --branch '<name>'`;
}

function personText(waiting: number, path: string, request: string, keys: string): string {
  const criteria = waiting === 1 ? "1 criterion waits" : `${waiting} criteria wait`;
  const judge = `nutshell judge ${shellWord(path)} --request ${shellWord(request)}${keys} --all --status passed`;
  return `${criteria} for a person: ${judge} --by "your name" --why "what you looked at"`;
}

function mark(status: string): string {
  if (status === "passed") return green("✓");
  return status === "failed" ? red("✗") : yellow("?");
}

function planText(plan: NonNullable<RunResult["plan"]>): string[] {
  const rows = plan.tasks.map(({ id, title, owner, deps, limits }) => [
    `  ${id}`,
    title,
    owner,
    deps.length === 0 ? "" : `after ${deps.join(", ")}`,
    dim(limits.join(", ")),
  ]);
  return [
    `${bold("plan")}: ${plan.source}, driver ${plan.driver}, up to ${count(plan.jobs, "agent")} at a time`,
    ...table(rows),
    ...plan.constraints.map(({ text, enforced }) => `  ${enforced ? "enforced" : "told to agents"}: ${text}`),
    ...plan.credentials.map((row) => `  credential ${useWords(row.name, row)}`),
    `  limits: ${budgetWords(plan.budget).join(",")}`,
    ...[...new Set(plan.tasks.map(({ command }) => command))].map((line) => `  starts: ${line}`),
    dim("nothing was started"),
  ];
}

/** As `--budget` takes them. */
function budgetWords(budget: NonNullable<RunResult["plan"]>["budget"]): string[] {
  const units = [
    ["h", 3_600_000],
    ["m", 60_000],
    ["s", 1_000],
  ] as const;
  const time = (ms: number) => {
    const [unit, length] = units.find(([, own]) => ms % own === 0) ?? ["ms", 1];
    return `${ms / length}${unit}`;
  };
  const { time_ms, tokens, cost_usd, agent_ms, stall_ms, loop } = budget;
  return [
    ...(time_ms === undefined ? [] : [`time=${time(time_ms)}`]),
    ...(tokens === undefined ? [] : [`tokens=${tokens}`]),
    ...(cost_usd === undefined ? [] : [`cost=${cost_usd}`]),
    `agent=${time(agent_ms)}`,
    `stall=${time(stall_ms)}`,
    `loop=${loop}`,
  ];
}
