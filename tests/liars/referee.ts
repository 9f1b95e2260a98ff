// Puts a row before the real programs and says what they believed. Nothing of the product is imported: it is asked
// through its commands, as a stranger would.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { type Known, parcelOf } from "./parcel.js";
import { copy, inPlace, putFiles, type Stage, setUp } from "./stage.js";
import type { Files, Forgery, Honest, JsonObject, Parcel, Run, Trick, World } from "./table.js";

const LIMIT_MS = 280_000;

/** Where the programs are (a folder with bin/) and what else is on PATH. */
export interface House {
  readonly folder: string;
  readonly path: readonly string[];
  /** Stop asking at the first yes: enough to know that a trick was believed. */
  readonly soon?: boolean;
  /** Only `accept` is asked about work in a tree: the short form. */
  readonly ask?: "accept";
  /** Asks `nutshell` without starting it, where the world allows that. */
  readonly here?: (cwd: string, args: readonly string[], env: Record<string, string>) => Promise<Ran>;
}

export interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Verdict {
  readonly believed: boolean;
  /** Which question was answered with yes. */
  readonly yes: readonly ("accept" | "verify" | "run" | "resume")[];
  /** What the programs said, for whoever has to find out why. */
  readonly said: string;
}

function environment(house: House, place: string): Record<string, string> {
  const env: Record<string, string> = {
    PATH: [...house.path, process.env.PATH ?? ""].join(delimiter),
    HOME: join(place, "home"),
    TMPDIR: join(place, "tmp"),
    LANG: "C.UTF-8",
  };
  // Installed below the person's home, which is not shown; rustup looks here first.
  const rustup = process.env.RUSTUP_HOME ?? join(homedir(), ".rustup");
  const cargo = process.env.CARGO_HOME ?? join(homedir(), ".cargo");
  return { ...env, RUSTUP_HOME: rustup, CARGO_HOME: cargo };
}

function call(
  house: House,
  place: string,
  program: "nutshell" | "nexus",
  args: readonly string[],
  cwd = place,
): Promise<Ran> {
  if (program === "nutshell" && house.here !== undefined) return house.here(cwd, args, environment(house, place));
  const child = spawn(process.execPath, [join(house.folder, "bin", `${program}.js`), ...args], {
    cwd,
    env: environment(house, place),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
  return new Promise((resolve) =>
    child.once("close", (status) => {
      clearTimeout(timer);
      resolve({ status, stdout, stderr });
    }),
  );
}

interface Accepted extends Known {
  readonly ran: Ran;
}

interface Answer {
  readonly world: World;
  readonly work: Files;
  readonly tree: string;
}

/** A folder is asked about as it lies; work in a repository as a delivery without a record. */
async function accept(house: House, place: string, stage: Stage, { world, work, tree }: Answer): Promise<Accepted> {
  const target =
    world.repository === undefined
      ? tree
      : await pack(house, place, parcelOf(stage, work, { digests: {}, ids: idsOf(world) }, null, checklistOf(world)));
  const ran = await acceptTarget(house, place, stage, target);
  return { ran, digests: digestsOf(ran), ids: idsOf(world) };
}

const acceptTarget = (house: House, place: string, stage: Stage, target: string) =>
  call(house, place, "nutshell", ["accept", target, "-r", stage.request, ...stage.flags, "--json"]);
const digestsOf = ({ stdout }: Ran) => (parsed(stdout).digests ?? {}) as JsonObject;

const idsOf = ({ criteria = [], acceptance }: World): string[] => [
  ...criteria.map(({ id }) => String(id)),
  ...((acceptance?.test_scripts ?? []) as string[]),
];

function parsed(text: string): JsonObject {
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    return {};
  }
}

async function pack(house: House, place: string, parcel: Parcel): Promise<string> {
  const folder = join(place, "delivery");
  rmSync(folder, { recursive: true, force: true });
  putFiles(folder, {
    ...parcel.files,
    "delivery/result.json": `${JSON.stringify(parcel.result, null, 2)}\n`,
    "nutshell.json": `${JSON.stringify(parcel.manifest, null, 2)}\n`,
  });
  const file = join(place, "delivery.nut");
  const ran = await call(house, place, "nutshell", ["pack", "--dir", folder, "-o", file, "--force", "--quiet"]);
  return ran.status === 0 ? file : folder;
}

async function requestDigest(house: House, place: string, request: string): Promise<string | null> {
  const ran = await call(house, place, "nutshell", [
    "pack",
    "--dir",
    request,
    "-o",
    join(place, "request.nut"),
    "--json",
  ]);
  const found = /sha256:[0-9a-f]{64}/.exec(JSON.stringify(parsed(ran.stdout).content_digest ?? ""));
  return found?.[0] ?? null;
}

const checklistOf = (world: World) => (world.acceptance?.checklist ?? []) as string[];
const tail = ({ status, stdout, stderr }: Ran, name: string) =>
  `--- ${name}: ${status}\n${stdout.slice(-6000)}${stderr.slice(-3000)}`;

/** Something done to the request before anybody is asked; the flags it makes necessary. */
type Preparation = (request: string, ask: (args: readonly string[]) => Promise<Ran>) => Promise<readonly string[]>;

export const judgeWork = (house: House, world: World, work: Files): Promise<Verdict> =>
  judgeStaged(house, world, work, async () => []);

export async function judgeStaged(house: House, world: World, work: Files, prepare: Preparation): Promise<Verdict> {
  return inPlace(async (place) => {
    const made = setUp(place, world);
    const more = await prepare(made.request, (args) => call(house, place, "nutshell", args));
    const stage = { ...made, flags: [...made.flags, ...more] };
    const tree = join(place, "work");
    copy(stage.base, tree);
    putFiles(tree, work);
    const accepted = await accept(house, place, stage, { world, work, tree });
    const believed = accepted.ran.status === 0;
    if (house.ask === "accept" || (house.soon && believed)) {
      return { believed, yes: believed ? ["accept"] : [], said: tail(accepted.ran, "accept") };
    }
    const parcel = parcelOf(
      stage,
      work,
      accepted,
      await requestDigest(house, place, stage.request),
      checklistOf(world),
    );
    const verified = await verify(house, place, stage, await pack(house, place, parcel), true);
    const yes: Verdict["yes"][number][] = [];
    if (believed) yes.push("accept");
    if (verified.status === 0) yes.push("verify");
    return { believed: yes.length > 0, yes, said: tail(accepted.ran, "accept") + tail(verified, "verify") };
  });
}

const verify = (house: House, place: string, stage: Stage, delivery: string, rerun: boolean) =>
  call(house, place, "nutshell", [
    "verify",
    delivery,
    "-r",
    stage.request,
    ...(rerun ? ["--rerun", ...stage.flags] : []),
  ]);

/** A forger knows the digests of what it brings: they are asked for before the delivery is forged once more with them. */
async function judgeForgery(house: House, { world, lie, forge, rerun }: Forgery): Promise<Verdict> {
  return inPlace(async (place) => {
    const stage = setUp(place, world);
    const request = await requestDigest(house, place, stage.request);
    const forged = (digests: JsonObject) => {
      const parcel = parcelOf(stage, lie, { digests, ids: idsOf(world) }, request, checklistOf(world));
      forge(parcel);
      return pack(house, place, parcel);
    };
    const accepted = await acceptTarget(house, place, stage, await forged({}));
    const verified = await verify(house, place, stage, await forged(digestsOf(accepted)), rerun);
    const believed = verified.status === 0;
    return { believed, yes: believed ? ["verify"] : [], said: tail(accepted, "accept") + tail(verified, "verify") };
  });
}

/** The agents of a run: one shell script that asks which role it plays. */
function agentScript(
  { engineer, tester = "true", reviewer = "", architect = "echo try again" }: Run["cast"],
  prepared: string,
): string {
  const said = reviewer === "" ? PASSES_ALL : reviewer;
  // An agent sees its own tree and nothing else of the machine, so the script carries the work.
  const packed = execFileSync("tar", ["-C", prepared, "-cf", "-", "."], { maxBuffer: 2 ** 30 }).toString("base64");
  const gone = readFileSync(`${prepared}.gone`, "utf8");
  const work = [
    `base64 -d <<'WORK' | tar -xf - 2>/dev/null\n${packed}\nWORK`,
    `while read -r gone; do rm -rf -- "$gone"; done <<'GONE'\n${gone}GONE`,
  ].join("\n");
  return [
    'PROMPT="$(cat)"',
    `work() {\n${work}\n}`,
    'case "$NEXUS_ROLE" in',
    `engineer) ${engineer}\necho done\n;;`,
    `tester) ${tester}\necho tried\n;;`,
    `reviewer) ${said}\n;;`,
    `*) ${architect}\n;;`,
    "esac",
    "",
  ].join("\n");
}

const PASSES_ALL =
  'for n in 1 2 3 4 5 6 7 8 9; do echo "[passed] $n: files/ does what was asked"; done; echo "VERDICT: pass"';

type Play = Pick<Run, "world" | "lie" | "cast" | "plan" | "tamper">;

async function judgeRun(house: House, { world, lie, cast, plan, tamper }: Play): Promise<Verdict> {
  return inPlace(async (place) => {
    const stage = setUp(place, world);
    const prepared = join(place, "prepared");
    mkdirSync(prepared);
    putFiles(prepared, lie);
    const gone = Object.entries(lie).flatMap(([path, content]) => (content === null ? [path] : []));
    writeFileSync(`${prepared}.gone`, gone.map((path) => `${path}\n`).join(""));
    const agent = join(place, "agent.sh");
    writeFileSync(agent, agentScript(cast, prepared));
    mkdirSync(join(place, "project"));
    const planned = plan === undefined ? "default" : join(place, "plan.json");
    if (plan !== undefined) writeFileSync(planned, JSON.stringify(plan));
    const output = join(place, "out.nut");
    const repo = world.repository === undefined ? [] : ["--repo", stage.base];
    const line = ["run", stage.request, ...repo, "--plan", planned, "--driver", "command", "--command", `sh ${agent}`];
    const project = join(place, "project");
    const at = (program: "nutshell" | "nexus", args: readonly string[]) => call(house, place, program, args, project);
    const ran = await at("nexus", [...line, "--yes", "-o", output]);
    let said = tail(ran, "run");
    const yes: Verdict["yes"][number][] = [];
    if (tamper === undefined) {
      if (ran.status === 0) yes.push("run");
    } else {
      tamper(latestRun(project));
      rmSync(output, { force: true });
      const resumed = await at("nexus", ["resume", "--yes"]);
      said += tail(resumed, "resume");
      if (resumed.status === 0) yes.push("resume");
    }
    if (house.soon && yes.length > 0) return { believed: true, yes, said };
    const verified = await at("nutshell", ["verify", output, "-r", stage.request, "--rerun", ...stage.flags]);
    said += tail(verified, "verify");
    if (verified.status === 0) yes.push("verify");
    return { believed: yes.length > 0, yes, said };
  });
}

function latestRun(project: string): string {
  const folder = join(project, ".nexus/state/nutcracker/runs");
  return join(folder, readdirSync(folder).sort().at(-1)!);
}

const houseOf = (house: House, { rustup }: World): House =>
  rustup ? { ...house, path: house.path.filter((folder) => !folder.includes("toolchains")) } : house;

export async function judge(house: House, trick: Trick): Promise<Verdict> {
  if (trick.by === "work") return judgeWork(house, trick.world, trick.lie);
  if (trick.by === "delivery") return judgeForgery(house, trick);
  return judgeRun(house, trick);
}

/** Honest work: every question must be answered with yes. */
export async function judgeHonest(anyHouse: House, { world, by, cast }: Honest): Promise<Verdict> {
  const house = houseOf({ ...anyHouse, soon: false }, world);
  const verdict =
    by === "run"
      ? await judgeRun(house, { world, lie: world.honest, cast: cast ?? { engineer: "work" } })
      : await judgeWork(house, world, world.honest);
  const asked: Verdict["yes"] =
    by === "run" ? ["run", "verify"] : house.ask === "accept" ? ["accept"] : ["accept", "verify"];
  return { ...verdict, believed: asked.every((answer) => verdict.yes.includes(answer)) };
}
