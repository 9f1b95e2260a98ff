// What a run would do, without doing it: plan, roles, limits and commands. Leaves nothing behind.
import { existsSync, lstatSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBundle, readManifest } from "../../bundle/index.js";
import type { Catalog } from "../../catalog/index.js";
import { NutError } from "../../errors.js";
import type { Manifest } from "../../schema/manifest.js";
import type { AgentRunner } from "../agents/agent.js";
import { DEMO_SCRIPT } from "../demo/script.js";
import { givenPlan, planFacts, plansWithLead } from "../engine/engine.js";
import { roleOf } from "../engine/run.js";
import { jobsOf } from "../engine/work.js";
import { openRequest } from "../engine/workspace.js";
import type { Budget } from "../record/budget.js";
import { runFolder } from "../record/folder.js";
import type { RunOptions } from "../record/options.js";
import { readConstraints } from "./constraints.js";
import { defaultPlan, readPlan } from "./plan.js";

export interface PreviewInput {
  readonly options: RunOptions;
  readonly runner: AgentRunner;
  readonly catalog: Catalog;
  readonly signal: AbortSignal;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export async function previewRun({ options, runner, catalog, signal }: PreviewInput) {
  const scratch = mkdtempSync(join(tmpdir(), "nexus-dry-run-"));
  try {
    const folder = runFolder(scratch, "preview", false);
    const { manifest } = await openRequest(options.request, join(scratch, "request"), signal);
    const facts = planFacts({ manifest, catalog, folder: { ...folder, request: join(scratch, "request") } });
    const given = givenPlan(options.plan, manifest);
    const plan = given === null ? defaultPlan(facts) : readPlan(given.source, given.value, facts);
    const lead = given === null && plansWithLead({ options, runner, manifest });
    const constraints = readConstraints(manifest.harness?.constraints ?? []);
    const tasks = plan.tasks.map((task) => {
      const role = roleOf({ catalog }, task.owner);
      return {
        ...task,
        deps: [...task.deps],
        limits: [...role.capabilities],
        command: runner.describe({ role: task.owner, mayEdit: role.mayEdit, cwd: "." }),
      };
    });
    return {
      type: "result" as const,
      run: options.id,
      status: "planned" as const,
      plan: {
        source: lead ? "lead (shown: the plan if it writes none)" : plan.source,
        driver: runner.name,
        jobs: jobsOf({ options, manifest }),
        constraints: constraints.all.map((text) => ({ text, enforced: !constraints.spoken.includes(text) })),
        budget: limitsOf(options.budget),
        tasks,
      },
    };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The budget as it is shown: every limit with its unit in its name. */
function limitsOf({ timeMs, tokens, costUsd, agentMs, stallMs, loop }: Budget) {
  return {
    ...(timeMs === undefined ? {} : { time_ms: timeMs }),
    ...(tokens === undefined ? {} : { tokens }),
    ...(costUsd === undefined ? {} : { cost_usd: costUsd }),
    agent_ms: agentMs,
    stall_ms: stallMs,
    loop,
  };
}

export interface Peek {
  readonly id: string;
  readonly title: string;
  readonly slug: string;
}

/** The request's name, before anything is made for it. */
export async function peekRequest(source: string): Promise<Peek> {
  const stats = lstatSync(source, { throwIfNoEntry: false });
  if (stats === undefined) {
    throw new NutError("FILE_NOT_FOUND", `${source}: no such file or folder`, { data: { path: source } });
  }
  const manifest = stats.isDirectory() ? readManifest(source) : await bundleManifest(source);
  const title = manifest.task?.title ?? "request";
  const words = title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-");
  return {
    id: manifest.id,
    title,
    slug:
      [...words]
        .slice(0, 60)
        .join("")
        .replace(/^-+|-+$/g, "") || "request",
  };
}

/** Whether the demo agent has a part to play in it. */
export async function carriesDemoScript(source: string): Promise<boolean> {
  if (lstatSync(source).isDirectory()) return existsSync(join(source, DEMO_SCRIPT));
  const bundle = await openBundle(source);
  try {
    return await bundle.has(DEMO_SCRIPT);
  } finally {
    await bundle.close();
  }
}

async function bundleManifest(path: string): Promise<Manifest> {
  const bundle = await openBundle(path);
  try {
    return bundle.manifest;
  } finally {
    await bundle.close();
  }
}
