// Which program runs the agents, when nobody names one: the demo agent for requests made for it, else, in front of a
// person, the agent program that is installed and logged in. It costs its owner money, so it is said, and asked when there
// are several.
import { isLoggedIn, LOGIN_DRIVERS, loadDriver } from "../../../drivers/index.js";
import { NutError } from "../../../errors.js";
import type { Context } from "../../../operation.js";

export interface DriverQuestion {
  /** --driver. */
  readonly named: string | undefined;
  /** What the project's config says. */
  readonly configured: string | undefined;
  readonly hasDemo: boolean;
  /** The command as typed, without a driver: what hints repeat. */
  readonly line: string;
}

export async function chooseDriver(question: DriverQuestion, context: Context): Promise<string> {
  const { named, configured, hasDemo, line } = question;
  const asked = named ?? configured;
  if (asked === "demo" && !hasDemo) throw noDemo(line);
  if (asked !== undefined) return asked;
  if (hasDemo) return "demo";
  if (context.ask === null) {
    throw new NutError("USAGE", "nobody can be asked here which agent program to use", {
      hint: `${line} --driver codex (or claude, opencode; nexus drivers shows what is installed)`,
    });
  }
  const ready = await readyDrivers(context.env);
  const only = ready.length === 1 ? ready[0]! : null;
  if (only !== null) {
    context.progress({
      type: "driver_chosen",
      driver: only,
      message: `with ${only}, which is installed and logged in here`,
    });
    return only;
  }
  if (ready.length === 0) {
    throw new NutError("DRIVER_MISSING", "no agent program is installed and logged in here", {
      hint: `nexus drivers shows what is missing; then ${line} --driver '<name>'`,
    });
  }
  const answer = (await context.ask.text(`Which agent works: ${ready.join(", ")}`, { initial: ready[0]! })).trim();
  if (ready.includes(answer)) return answer;
  throw new NutError("USAGE", `"${answer}" is none of ${ready.join(", ")}`, {
    hint: `${line} --driver ${ready[0]}`,
  });
}

/** Programs that would start and answer, as far as files and variables tell. */
async function readyDrivers(env: Context["env"]): Promise<string[]> {
  const probes = LOGIN_DRIVERS.map(async (name) => {
    if (!isLoggedIn(name, env)) return [];
    const { usable } = await (await loadDriver(name)).probe(env);
    return usable ? [name] : [];
  });
  return (await Promise.all(probes)).flat();
}

const noDemo = (line: string) =>
  new NutError("DRIVER_MISSING", "the demo agent plays only requests that carry context/demo-agent.json", {
    hint: `${line} --driver codex (or claude, opencode; nexus drivers shows what is installed)`,
  });
