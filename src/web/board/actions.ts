// What a person may do from the board, and the command line that does the same: the page shows it, the server runs it.

export type Action =
  | { readonly action: "decide"; readonly issue: number; readonly decision: string }
  | { readonly action: "reopen"; readonly task: number }
  | ({ readonly action: "start" } & Start)
  | { readonly action: "pause" | "cancel" | "deliver"; readonly run: string }
  /** `budget`: new limits, for a run that spent what it had. */
  | { readonly action: "resume"; readonly run: string; readonly budget: string }
  | { readonly action: "answer"; readonly run: string; readonly task: number; readonly text: string }
  | { readonly action: "retry" | "skip"; readonly run: string; readonly task: number }
  /** `plan`: as the person changed it; empty when it is good as it is. */
  | { readonly action: "approve"; readonly run: string; readonly plan: string }
  | {
      readonly action: "judge";
      readonly run: string;
      readonly item: string;
      readonly status: "passed" | "failed";
      readonly by: string;
      readonly why: string;
    };

export interface Start {
  readonly request: string;
  /** Empty: as the project is configured. */
  readonly driver: string;
  readonly budget: string;
  /** What an earlier run should have done differently. */
  readonly answer: string;
  readonly reviewPlan: boolean;
  readonly allowInstall: boolean;
}

/** What a command line needs to know of the run it is about. */
export interface RunPaths {
  readonly request: string;
  readonly delivery: string;
}

/** What came of it. A refusal is told with its hint; a question of consent with its words. */
export type Acted =
  | { readonly done: true; readonly message: string; readonly run?: string }
  | { readonly done: false; readonly message: string; readonly hint: string; readonly consent: ConsentAsked | null };

export interface ConsentAsked {
  /** As the command line would ask it. */
  readonly question: string;
  /** What a yes is given to: digests. */
  readonly agree: string;
  /** The question says that something is installed, too. */
  readonly install: boolean;
}

/** A person's yes to such a question. */
export type Agreement = Pick<ConsentAsked, "agree" | "install">;

/** Where a plan that was changed in the page is kept while its run starts; a person saves it where they like. */
export const PLAN_FILE = "plan.json";

const NO_PATHS: RunPaths = { request: "<request>", delivery: "<delivery>" };

/** The words of the command, the program first. */
export function commandOf(action: Action, paths: RunPaths = NO_PATHS): string[] {
  const resume = (run: string, ...more: string[]) => ["nexus", "resume", run, ...more];
  switch (action.action) {
    case "decide":
      return ["nexus", "plan", "decide", String(action.issue), ...words(action.decision)];
    case "reopen":
      return ["nexus", "task", "reopen", String(action.task)];
    case "start":
      return startCommand(action);
    case "pause":
    case "cancel":
      return ["nexus", action.action, action.run];
    case "deliver":
      return resume(action.run, "--deliver");
    case "resume":
      return resume(action.run, ...(action.budget === "" ? [] : [`--budget=${action.budget}`]));
    case "answer":
      return resume(action.run, `--task=${action.task}`, `--answer=${action.text}`);
    case "retry":
    case "skip":
      return resume(action.run, `--task=${action.task}`, `--${action.action}`);
    case "approve":
      return resume(action.run, ...(action.plan === "" ? [] : [`--plan=${PLAN_FILE}`]));
    case "judge": {
      const { item, status, by, why } = action;
      const which = [`--request=${paths.request}`, `--item=${item}`, `--status=${status}`];
      return ["nutshell", "judge", path(paths.delivery), ...which, `--by=${by}`, `--why=${why}`];
    }
  }
}

function startCommand({ request, driver, budget, answer, reviewPlan, allowInstall }: Start): string[] {
  return [
    ...["nexus", "run", path(request)],
    ...(driver === "" ? [] : [`--driver=${driver}`]),
    ...(budget === "" ? [] : [`--budget=${budget}`]),
    ...(answer === "" ? [] : [`--answer=${answer}`]),
    ...(reviewPlan ? ["--review-plan"] : []),
    ...(allowInstall ? ["--allow-install"] : []),
  ];
}

const path = (name: string) => (name.startsWith("-") ? `./${name}` : name);
const words = (text: string) => (text.startsWith("-") ? ["--", text] : [text]);

/** As it is pasted into a shell; what was agreed to stands before it. */
export function lineOf(command: readonly string[], agreed: Agreement | null = null): string {
  const consent = agreed === null ? [] : [`NUTCRACKER_CONSENT=${shellWord(agreed.agree)}`];
  return [...consent, ...withInstall(command, agreed).map(shellWord)].join(" ");
}

/** What a question says is installed, a yes to it allows. */
export function withInstall(command: readonly string[], agreed: Agreement | null): readonly string[] {
  return agreed?.install === true && !command.includes("--allow-install") ? [...command, "--allow-install"] : command;
}

/** A flag keeps its name in sight: --answer='two words'. */
function shellWord(word: string): string {
  const [, flag = "", value = word] = /^(--[a-z-]+=)(.*)$/s.exec(word) ?? [];
  return flag + (/^[\w@%+=:,./-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`);
}
