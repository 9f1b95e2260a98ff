// The program that runs the agents of `nexus run` and `nexus resume`.
import { lstatSync } from "node:fs";
import {
  DRIVER_NAMES,
  isDriverName,
  isStandIn,
  loadDriver,
  noopCommand,
  oracleCommand,
} from "../../../drivers/index.js";
import { NutError } from "../../../errors.js";
import type { Context } from "../../../operation.js";
import type { SigningKey } from "../../../request/signatures/signing-key.js";
import { type AgentRunner, demoCommand, driverRunner, toolPrograms } from "../../../run/index.js";

export interface RunnerInput {
  readonly driver: string;
  readonly command?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly noSandbox: boolean;
  /** For the driver oracle: the folder of the known solution. */
  readonly oracle?: string | undefined;
  /** What the person types for it, when not --driver and --command. */
  readonly isReviewer?: true;
}

/** The key of --sign, tried before anybody works; undefined when nothing is to be signed. */
export async function runSigner(
  { sign, key }: { readonly sign: boolean; readonly key?: string | undefined },
  context: Context,
): Promise<SigningKey | undefined> {
  if (!sign) return undefined;
  const [{ findSigningKey }, { tryKey }] = await Promise.all([
    import("../../../request/signatures/signing-key.js"),
    import("../../../request/signatures/sign-bundle.js"),
  ]);
  const signer = findSigningKey(key, context);
  await tryKey(signer);
  return signer;
}

/** The program for reviews; undefined when it is the one that works. */
export async function findReviewer(
  {
    reviewer,
    reviewerCommand,
    noSandbox,
  }: {
    readonly reviewer?: string | undefined;
    readonly reviewerCommand?: string | undefined;
    readonly noSandbox: boolean;
  },
  env: RunnerInput["env"],
): Promise<AgentRunner | undefined> {
  if (reviewer !== undefined)
    return findRunner({ driver: reviewer, command: reviewerCommand, env, noSandbox, isReviewer: true });
  if (reviewerCommand === undefined) return undefined;
  throw new NutError("USAGE", "--reviewer-command needs --reviewer", {
    hint: 'the same, with: --reviewer command --reviewer-command "my-reviewer"',
  });
}

/** Programs that can take over need no line of their own. */
const CAN_TAKE_OVER: readonly string[] = ["codex", "claude", "opencode"];

/** `--fallback codex,claude`: one after the other, in that order. Throws before anything is made. */
export function fallbackNames(words: readonly string[]): string[] {
  const names = words.flatMap((word) => word.split(",")).map((word) => word.trim());
  const wrong = names.find((name) => !CAN_TAKE_OVER.includes(name));
  if (wrong === undefined) return names;
  throw new NutError("USAGE", `--fallback knows ${CAN_TAKE_OVER.join(", ")}, not "${wrong}"`, {
    hint: "the same, with: --fallback codex,opencode",
  });
}

export function findFallbacks(names: readonly string[], input: Omit<RunnerInput, "driver">): Promise<AgentRunner[]> {
  return Promise.all(names.map((driver) => findRunner({ ...input, driver })));
}

/** Those a run was started with. One that has gone away since is left out, and said: who works now may need nobody. */
export async function findKeptFallbacks(
  names: readonly string[],
  input: Omit<RunnerInput, "driver">,
  { progress }: Pick<Context, "progress">,
): Promise<AgentRunner[]> {
  const found = names.map((driver) =>
    findRunner({ ...input, driver }).catch((error: unknown) => {
      if (!(error instanceof NutError)) throw error;
      progress({ type: "warning", message: `${driver} cannot take over: ${error.message}` });
      return [];
    }),
  );
  return (await Promise.all(found)).flat();
}

/** A version nobody tried is used, and said. */
export function tellNotes(runners: readonly (AgentRunner | undefined)[], { progress }: Context): void {
  const notes = runners.flatMap((runner) => runner?.note ?? []);
  for (const message of new Set(notes)) progress({ type: "warning", message });
}

/** Throws DRIVER_MISSING or DRIVER_TOO_OLD with one clear sentence, before anything is made. */
export async function findRunner(input: RunnerInput): Promise<AgentRunner> {
  const { driver: name, env, noSandbox } = input;
  const own = name === "demo" || isStandIn(name);
  if (!own && !isDriverName(name)) {
    throw new NutError("USAGE", `there is no driver "${name}": demo, ${DRIVER_NAMES.join(", ")}, noop, oracle`, {
      hint: "nexus drivers shows which of them can be used here",
    });
  }
  const driver = await loadDriver(isDriverName(name) ? name : "command");
  const line = ownLine(input) ?? input.command;
  const [driverFlag, lineFlag] =
    input.isReviewer === true ? ["--reviewer", "--reviewer-command"] : ["--driver", "--command"];
  if (line === undefined ? name === "command" : line.trim() === "") {
    throw new NutError(
      "USAGE",
      `${driverFlag} ${name} needs ${lineFlag}${line === undefined ? "" : ", and it is empty"}`,
      {
        hint: `the same, with: ${lineFlag} "my-agent"`,
      },
    );
  }
  const probe = await driver.probe(env, line);
  if (!probe.usable) {
    throw new NutError(
      probe.path === null ? "DRIVER_MISSING" : "DRIVER_TOO_OLD",
      probe.reason ?? `${name} cannot be used`,
      {
        hint: probe.hint ?? "nexus drivers",
        data: { driver: name, version: probe.version },
      },
    );
  }
  return driverRunner({
    driver,
    // What is no agent needs no tools.
    probe: isStandIn(name) ? { ...probe, abilities: { ...probe.abilities, mcp: "absent" } } : probe,
    name,
    ...(line === undefined ? {} : { command: line }),
    env,
    tools: toolPrograms(),
    sandbox: noSandbox ? "off" : "auto",
    ...(input.oracle === undefined ? {} : { readable: input.oracle }),
  });
}

/** The line of a program of ours; undefined for everybody else's. */
function ownLine({ driver, oracle }: RunnerInput): string | undefined {
  if (driver === "demo") return demoCommand();
  if (driver === "noop") return noopCommand();
  if (driver !== "oracle") return undefined;
  if (oracle !== undefined && lstatSync(oracle, { throwIfNoEntry: false })?.isDirectory() === true)
    return oracleCommand(oracle);
  const what = oracle === undefined ? "the driver oracle needs a solution" : `${oracle} is no folder with a solution`;
  throw new NutError("USAGE", what, { hint: "the same, with: --oracle '<folder of the solution>'" });
}
