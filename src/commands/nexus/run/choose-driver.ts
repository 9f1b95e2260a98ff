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
  if (asked === "demo" && !hasDemo) throw await noDemo(line, context.env);
  if (asked !== undefined) return asked;
  if (hasDemo) return "demo";
  const ready = await readyDrivers(context.env);
  // Not even where there is one only: it costs money, and nobody would see that it was chosen.
  if (context.ask === null) {
    const message = `nobody can be asked here which agent program to use; ${readyAre(ready)}`;
    throw new NutError("USAGE", message, { hint: withDriver(line, ready) });
  }
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
      hint: withDriver(line, ready),
    });
  }
  const answer = (await context.ask.text(`Which agent works: ${ready.join(", ")}`, { initial: ready[0]! })).trim();
  if (ready.includes(answer)) return answer;
  throw new NutError("USAGE", `"${answer}" is none of ${ready.join(", ")}`, {
    hint: withDriver(line, ready),
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

const readyAre = (ready: readonly string[]): string =>
  ready.length === 0 ? "none is installed and logged in" : `installed and logged in: ${ready.join(", ")}`;

/** The same with the first that is ready; without any, what shows what they lack. */
const withDriver = (line: string, [first]: readonly string[]): string =>
  first === undefined ? "nexus drivers" : `${line} --driver ${first}`;

async function noDemo(line: string, env: Context["env"]): Promise<NutError> {
  const ready = await readyDrivers(env);
  const message = `the demo agent plays only requests that carry context/demo-agent.json; ${readyAre(ready)}`;
  return new NutError("DRIVER_MISSING", message, { hint: withDriver(line, ready) });
}
