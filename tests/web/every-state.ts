// A project for every state a run can be in, each brought there by the real programs.
import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runIds, runsFolder } from "../../src/run/record/folder.js";
import { RunReader } from "../../src/run/record/run-reader.js";
import { call, environment, root as source } from "../run/program.js";

/** Says that all is done, and does nothing. */
const LAZY = `console.log('{"nexus_event":"message","text":"I looked at it and it is fine."}'); console.log("All done.");`;
/** Works for as long as it is let. */
export const BUSY = [
  `import { writeFileSync } from "node:fs";`,
  `writeFileSync("begun.txt", "one\\n");`,
  `let step = 0;`,
  `setInterval(() => { step += 1;`,
  `  console.log(JSON.stringify({ nexus_event: "message", text: "step " + step }));`,
  `  console.log(JSON.stringify({ nexus_event: "usage", input_tokens: 20 * step, output_tokens: 1, cost_usd: 0.0001 * step }));`,
  `}, 100);`,
].join("\n");

const PLAN = {
  goal: "A report of a sales table",
  tasks: [
    { title: "The reader", context: "files/csv", files: ["files/csv/"] },
    { title: "The totals", context: "files/report", files: ["files/report/"] },
    { title: "The notes", context: "a page for people", files: ["files/notes/"] },
    { title: "The program that joins them", context: "files/main.mjs", deps: [1, 2] },
  ],
};

/** Each is a folder of its own, called so. */
export const STATES = [
  ...["completed", "partial", "plan", "paused", "failed", "cancelled", "interrupted", "running", "empty"],
] as const;

export interface States {
  stop(): Promise<void>;
}

export const runOf = (project: string): string => runIds(runsFolder(project)).at(-1) ?? "";

export function makeRequest(folder: string, example = "1-bug-fix", forPerson = false): void {
  mkdirSync(folder, { recursive: true });
  cpSync(join(source, "examples", example), join(folder, "task"), { recursive: true });
  if (!forPerson) return;
  const file = join(folder, "task/tests/criteria.json");
  const criteria = JSON.parse(readFileSync(file, "utf8"));
  criteria.criteria.push({ id: "AC-003", description: "The code reads well", type: "manual", auto_verifiable: false });
  writeFileSync(file, JSON.stringify(criteria));
}

export async function everyState(home: string): Promise<States> {
  const env = environment(home);
  const children: ChildProcess[] = [];
  const at = (name: string, example?: string, forPerson?: boolean) => {
    const folder = join(home, name);
    makeRequest(folder, example, forPerson);
    return folder;
  };
  const nexus = (cwd: string, ...args: string[]) => call("nexus", cwd, args, env);
  writeFileSync(join(home, "lazy.mjs"), LAZY);
  writeFileSync(join(home, "busy.mjs"), BUSY);
  const lazy = ["--driver", "command", "--command", `node ${join(home, "lazy.mjs")}`];

  nexus(at("completed", "3-parallel"), "run", "task", "--driver", "demo");
  nexus(at("partial", "1-bug-fix", true), "run", "task", "--driver", "demo");
  nexus(at("plan"), "run", "task", "--driver", "demo", "--review-plan");
  nexus(at("paused"), "run", "task", ...lazy);
  for (const [name, args] of [
    ["failed", ["resume", "--deliver"]],
    ["cancelled", ["cancel"]],
  ] as const) {
    const cwd = at(name);
    nexus(cwd, "run", "task", ...lazy);
    nexus(cwd, ...args, runOf(cwd));
  }
  for (const name of ["interrupted", "running"]) {
    const cwd = at(name, "3-parallel");
    writeFileSync(join(cwd, "plan.json"), JSON.stringify(PLAN));
    const plan = ["--plan", "plan.json", "--jobs", "3", "--budget", "time=30m,tokens=500k,cost=5"];
    const args = ["run", "task", ...plan, "--driver", "command", "--command", `node ${join(home, "busy.mjs")}`];
    const child = spawn(process.execPath, [join(source, "bin/nexus.js"), ...args], { cwd, env, stdio: "ignore" });
    children.push(child);
    for (let tries = 0; !isAtWork(cwd); tries += 1) {
      if (tries > 600) throw new Error(`${name}: no agent was started`);
      await sleep(50);
    }
    if (name === "interrupted") await ended(child, "SIGKILL");
  }
  mkdirSync(join(home, "empty/.nexus/state"), { recursive: true });
  return {
    stop: async () => {
      for (const child of children)
        if (child.exitCode === null && child.signalCode === null) await ended(child, "SIGTERM");
    },
  };
}

const isAtWork = (cwd: string) =>
  existsSync(runsFolder(cwd)) &&
  runOf(cwd) !== "" &&
  new RunReader(runsFolder(cwd), runOf(cwd)).read().state.agents.size === 3;

function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<unknown> {
  const end = new Promise((resolve) => child.once("exit", resolve));
  child.kill(signal);
  return end;
}
