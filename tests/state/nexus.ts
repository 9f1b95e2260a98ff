// The command line in process, in a fresh project of its own.
import { onTestFinished } from "vitest";
import { forgetProjects } from "../../src/state/index.js";
import { temporary } from "../temporary.js";
import { type Ran, runNexus } from "./run-nexus.js";

export function freshProject(): string {
  onTestFinished(forgetProjects);
  return temporary("nexus-state-");
}

interface Surroundings {
  readonly env?: Record<string, string>;
  readonly stdin?: string;
}

export function nexus(cwd: string, argv: readonly string[], { env = {}, stdin }: Surroundings = {}): Promise<Ran> {
  return runNexus(argv, { cwd, env: { NEXUS_PROJECT_DIR: cwd, ...env }, ...(stdin === undefined ? {} : { stdin }) });
}

/** A tool's result, parsed; fails the test when there is none. */
export async function call(cwd: string, tool: string, params: unknown = {}, around: Surroundings = {}) {
  const ran = await nexus(cwd, ["call", tool, JSON.stringify(params)], around);
  if (ran.out === "") throw new Error(`${tool}: ${ran.err}`);
  return JSON.parse(ran.out);
}
