// A run without processes: agents are functions. Everything else is the real engine on real files.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { type Catalog, loadCatalog } from "../../src/catalog/index.js";
import type { Context, Progress, Prompter } from "../../src/operation.js";
import type { AgentEvent, AgentOutcome, AgentRequest, AgentRunner } from "../../src/run/index.js";
import {
  createRun,
  executeRun,
  parseBudget,
  previewRun,
  type Reply,
  type runFolder,
  runsFolder,
} from "../../src/run/index.js";
import { Journal, JournalFollower, readJournal } from "../../src/run/record/journal.js";
import type { RunState } from "../../src/run/record/run-state.js";
import type { RunInput } from "../../src/run/run.js";
import type { JournalRecord } from "../../src/schema/journal.js";
import type { RunOptions } from "../../src/schema/run.js";
import { openProject } from "../../src/state/index.js";

export type Agent = (
  request: AgentRequest,
  emit: (event: AgentEvent) => void,
) => string | AgentOutcome | Promise<string | AgentOutcome>;

const folders: string[] = [];
export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), "nut-run-"));
  folders.push(folder);
  return folder;
}
export function sweep(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

export function put(root: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

export const MANIFEST = {
  nutshell_version: "0.2.0",
  bundle_type: "request",
  id: "nut-0f000000-0000-4000-8000-000000000001",
  created_at: "2026-03-14T10:00:00Z",
  task: { title: "Say hello", summary: "hello.txt must greet the world" },
  context: { requirements: "context/requirements.md" },
  acceptance: { criteria_file: "tests/criteria.json", checklist: ["it greets"] },
  harness: { execution_strategy: "one-shot", constraints: ["Do not modify files outside files/"] },
};

/** A request whose only criterion is that files/hello.txt says hello. */
export function helloRequest(root: string, manifest: object = {}, files: Record<string, string> = {}): string {
  const folder = join(root, "request");
  put(folder, {
    "nutshell.json": JSON.stringify({ ...MANIFEST, ...manifest }),
    "context/requirements.md": "Write hello world into files/hello.txt\n",
    "files/hello.txt": "nothing\n",
    "tests/criteria.json": JSON.stringify({
      criteria_version: "0.2.0",
      criteria: [
        {
          id: "AC-1",
          description: "the file says hello",
          type: "shell",
          script: "tests/hello.sh",
          expected: { exit_code: 0 },
        },
      ],
    }),
    "tests/hello.sh": "grep -q 'hello world' files/hello.txt\n",
    ...files,
  });
  return folder;
}

export interface Setup {
  readonly root: string;
  readonly agent: Agent;
  readonly options?: Partial<RunOptions>;
  readonly runner?: Partial<AgentRunner>;
  /** Another program for reviews. */
  readonly reviewer?: AgentRunner;
  /** Agents that take over, each under the name it is given here. */
  readonly fallbacks?: Readonly<Record<string, Agent>>;
  readonly switched?: RunInput["switched"];
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly ask?: Prompter | null;
  readonly signal?: AbortSignal;
  readonly env?: Record<string, string | undefined>;
  readonly now?: () => Date;
  readonly clock?: () => number;
  readonly budget?: readonly string[];
  readonly catalog?: Catalog;
  readonly progress?: (event: Progress) => void;
}

export interface World {
  readonly started: string[];
  readonly events: Progress[];
  readonly journal: () => readonly JournalRecord[];
  readonly state: () => RunState;
  readonly folder: ReturnType<typeof runFolder>;
  go(reply?: Reply | null, extra?: Partial<Setup>): ReturnType<typeof executeRun>;
  preview(options?: Partial<RunOptions>): ReturnType<typeof previewRun>;
}

/** A run ready to go, any number of times. */
export async function world(setup: Setup): Promise<World> {
  const { root } = setup;
  const catalog = await loadCatalog();
  mkdirSync(join(root, "project", ".nexus"), { recursive: true });
  const outer = openProject(join(root, "project"), {});
  const options: RunOptions = {
    id: "r1",
    created_at: new Date().toISOString(),
    title: MANIFEST.task.title,
    request_id: MANIFEST.id,
    request: join(root, "request"),
    driver: "scripted",
    budget: parseBudget(setup.budget ?? []),
    review_plan: false,
    yes: false,
    force: false,
    output: join(root, "delivery.nut"),
    ...setup.options,
  };
  const runs = runsFolder(outer.root);
  const folder = createRun(runs, options);
  const started: string[] = [];
  const events: Progress[] = [];
  const contextOf = (now: Setup): Context => ({
    cwd: root,
    env: now.env ?? process.env,
    now: now.now ?? (() => new Date()),
    signal: now.signal ?? new AbortController().signal,
    ask: now.ask ?? null,
    progress: (event) => {
      events.push(event);
      now.progress?.(event);
    },
    stdin: () => Readable.from([]),
    stdout: () => new PassThrough(),
  });
  return {
    started,
    events,
    folder,
    journal: () => readJournal(folder.journal),
    state: () => new JournalFollower(folder.journal).look(),
    go: (reply = null, extra = {}) => {
      const now = { ...setup, ...extra };
      return executeRun(
        {
          folder,
          options: { ...options, ...extra.options },
          budget: parseBudget(now.budget ?? [], options.budget),
          runner: scriptedRunner(now.agent, started, now.runner),
          reviewer: now.reviewer,
          fallbacks: Object.entries(now.fallbacks ?? {}).map(([name, agent]) =>
            scriptedRunner(agent, started, { ...now.runner, name, about: { name } }),
          ),
          ...(now.switched === undefined ? {} : { switched: now.switched }),
          ...(now.sleep === undefined ? {} : { sleep: now.sleep }),
          catalog: now.catalog ?? catalog,
          outer,
          context: contextOf(now),
          ...(now.clock === undefined ? {} : { clock: now.clock }),
        },
        reply,
      );
    },
    preview: (extra = {}) =>
      previewRun({
        options: { ...options, ...extra },
        runner: scriptedRunner(setup.agent, started, setup.runner),
        catalog,
        context: contextOf(setup),
      }),
  };
}

function scriptedRunner(agent: Agent, started: string[], extra: Partial<AgentRunner> = {}): AgentRunner {
  return {
    name: "scripted",
    about: { name: "scripted", version: "1.0.0" },
    canResume: false,
    hasTools: false,
    canPlan: false,
    toolName: (name) => `nx_${name}`,
    describe: ({ role }) => `scripted ${role}`,
    async run(request, emit) {
      started.push(request.agent);
      const stopped = new Promise<AgentOutcome>((resolve) => {
        const stop = () => resolve({ outcome: "stopped", text: "" });
        if (request.signal.aborted) stop();
        else request.signal.addEventListener("abort", stop, { once: true });
      });
      const own = (async () => {
        const said = await agent(request, emit);
        return typeof said === "string" ? ({ outcome: "done", text: said } as const) : said;
      })();
      return Promise.race([own, stopped]);
    },
    ...extra,
  };
}

/** Runs until just before (or just after) the n-th journal record, then drops dead. */
export class Death extends Error {}
export async function dieAt(n: number, when: "before" | "after", work: () => Promise<unknown>): Promise<boolean> {
  const append = Journal.prototype.append;
  let left = n;
  let dead = false;
  Journal.prototype.append = function (this: Journal, event) {
    // Once dead, nothing reaches the disk any more.
    if (dead) throw new Death();
    left -= 1;
    if (left > 0) return append.call(this, event);
    dead = true;
    if (when === "after") append.call(this, event);
    throw new Death();
  };
  try {
    await work().catch((error: unknown) => {
      if (!(error instanceof Death)) throw error;
    });
  } finally {
    Journal.prototype.append = append;
  }
  return dead;
}
