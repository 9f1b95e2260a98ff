// Puts a row before the real programs and says what they believed. Nothing of the product is imported: it is asked
// through its commands, as a stranger would.
import { execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import type { Content, Files, JsonObject, Parcel, Run, Trick, World } from "./table.js";

const ID = "nut-0f000000-0000-4000-8000-00000000000a";
const ANSWER = "nut-0f000000-0000-4000-8000-00000000000b";
const LIMIT_MS = 280_000;

/** Where the programs are (a folder with bin/) and what else is on PATH. */
export interface House {
  readonly folder: string;
  readonly path: readonly string[];
  /** Stop asking at the first yes: enough to know that a trick was believed. */
  readonly soon?: boolean;
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

export function putFiles(root: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) putFile(join(root, path), content);
}

function putFile(path: string, content: Content): void {
  rmSync(path, { recursive: true, force: true });
  if (content === null) return;
  mkdirSync(dirname(path), { recursive: true });
  if (typeof content === "string") writeFileSync(path, content);
  else if ("run" in content) {
    writeFileSync(path, content.run);
    chmodSync(path, 0o755);
  } else if ("bytes" in content) writeFileSync(path, Buffer.from(content.bytes, "base64"));
  else if ("link" in content) symlinkSync(content.link, path);
  else mkdirSync(path);
}

/** A place of its own for one row; gone afterwards. */
async function inPlace<T>(work: (place: string) => Promise<T>): Promise<T> {
  const place = mkdtempSync(join(tmpdir(), "liars-"));
  for (const folder of ["home", "tmp"]) mkdirSync(join(place, folder));
  try {
    return await work(place);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
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

function manifestOf(world: World): JsonObject {
  return {
    nutshell_version: "0.2.0",
    bundle_type: "request",
    id: ID,
    created_at: "2026-03-14T10:00:00Z",
    task: { title: world.task, summary: `${world.task}.` },
    tags: { skills_required: [world.stack] },
    context: { requirements: "context/requirements.md" },
    acceptance: {
      ...(world.criteria === undefined ? {} : { criteria_file: "tests/criteria.json" }),
      ...world.acceptance,
    },
    harness: { execution_strategy: "one-shot", constraints: world.constraints ?? [] },
  };
}

interface Stage {
  readonly request: string;
  /** The untouched tree the work begins with: the request, or the repository. */
  readonly base: string;
  readonly baseFiles: Files;
  /** Flags that tell the programs where the repository is. */
  readonly flags: readonly string[];
}

export function setUp(place: string, world: World): Stage {
  const request = join(place, "request");
  putFiles(request, {
    "nutshell.json": `${JSON.stringify(manifestOf(world), null, 2)}\n`,
    "context/requirements.md": `# ${world.task}\n\n${world.task}. The checks in tests/ say when it is done.\n`,
    ...(world.criteria === undefined
      ? {}
      : { "tests/criteria.json": `${JSON.stringify({ criteria_version: "0.2.0", criteria: world.criteria }, null, 2)}\n` }),
    ...world.files,
  });
  if (world.repository === undefined) return { request, base: request, baseFiles: world.files, flags: [] };
  const base = join(place, "repository");
  putFiles(base, world.repository);
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", base, "-c", "user.name=a", "-c", "user.email=a@a.invalid", ...args], { stdio: "ignore" });
  git("init", "-q", "-b", "main");
  git("add", "-A", "-f");
  git("commit", "-q", "-m", "begin");
  return { request, base, baseFiles: world.repository, flags: ["--base", base] };
}

const copy = (from: string, to: string) => execFileSync("cp", ["-a", from, to]);

interface Accepted {
  readonly ran: Ran;
  readonly digests: JsonObject;
  readonly results: readonly JsonObject[];
}

async function accept(house: House, place: string, stage: Stage, work: string): Promise<Accepted> {
  const ran = await call(house, place, "nutshell", ["accept", work, "-r", stage.request, ...stage.flags, "--json"]);
  const said = parsed(ran.stdout);
  return { ran, digests: (said.digests ?? {}) as JsonObject, results: (said.results ?? []) as JsonObject[] };
}

function parsed(text: string): JsonObject {
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    return {};
  }
}

/** What a harness would write about this work if everything had passed: each lie is told as well as it can be. */
function parcelOf(stage: Stage, work: Files, accepted: Accepted, request: string | null, checklist: readonly string[]): Parcel {
  const named = (wanted: (path: string, content: Content) => boolean, prefix: string) =>
    Object.entries(work)
      .filter(([path, content]) => wanted(path, content))
      .map(([path]) => ({ path: `${prefix}${path}` }));
  const known = (path: string) => path in stage.baseFiles || path in { "context/requirements.md": 1 };
  const delivered = (content: Content) => content !== null && !(typeof content === "object" && "folder" in content);
  const files: Record<string, Content> = {};
  for (const [path, content] of Object.entries(work)) {
    if (delivered(content)) files[`delivery/artifacts/${path}`] = content;
  }
  const criteria = accepted.results.map(({ id }) => {
    const log = `delivery/logs/${String(id).replaceAll(/[^\w.-]/g, "-")}.log`;
    files[log] = "passed\n";
    return { id, status: "passed", evidence: "proven", log };
  });
  return {
    manifest: {
      nutshell_version: "0.2.0",
      bundle_type: "delivery",
      id: ANSWER,
      request_id: ID,
      parent_id: ID,
      status: "completed",
      task: { title: "An answer", summary: "what was asked for" },
    },
    result: {
      nutshell_version: "0.2.0",
      bundle_type: "delivery",
      request_id: ID,
      parent_id: ID,
      status: "completed",
      completion_percentage: 100,
      summary: "done",
      artifacts: {
        files_created: named((path, content) => delivered(content) && !known(path), "delivery/artifacts/"),
        files_modified: named((path, content) => delivered(content) && known(path), "delivery/artifacts/"),
        files_deleted: named((_, content) => content === null, ""),
      },
      acceptance_results: {
        tests_passed: criteria.length,
        tests_failed: 0,
        criteria,
        checklist: checklist.map((item) => ({ item, status: "passed", evidence: "judged", note: "looked at it" })),
      },
      digests: { ...accepted.digests, ...(request === null ? {} : { request }) },
    },
    files,
  };
}

async function pack(house: House, place: string, parcel: Parcel): Promise<string> {
  const folder = join(place, "delivery");
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
  const ran = await call(house, place, "nutshell", ["pack", "--dir", request, "-o", join(place, "request.nut"), "--json"]);
  const found = /sha256:[0-9a-f]{64}/.exec(JSON.stringify(parsed(ran.stdout).content_digest ?? ""));
  return found?.[0] ?? null;
}

const checklistOf = (world: World) => (world.acceptance?.checklist ?? []) as string[];
const tail = ({ status, stdout, stderr }: Ran, name: string) =>
  `--- ${name}: ${status}\n${stdout.slice(-6000)}${stderr.slice(-3000)}`;

async function judgeWork(house: House, world: World, work: Files): Promise<Verdict> {
  return inPlace(async (place) => {
    const stage = setUp(place, world);
    const tree = join(place, "work");
    copy(stage.base, tree);
    putFiles(tree, work);
    const accepted = await accept(house, place, stage, tree);
    if (house.soon && accepted.ran.status === 0) return { believed: true, yes: ["accept"], said: tail(accepted.ran, "accept") };
    const parcel = parcelOf(stage, work, accepted, await requestDigest(house, place, stage.request), checklistOf(world));
    const delivery = await pack(house, place, parcel);
    const verified = await verify(house, place, stage, delivery, true);
    const yes = [
      ...(accepted.ran.status === 0 ? (["accept"] as const) : []),
      ...(verified.status === 0 ? (["verify"] as const) : []),
    ];
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

async function judgeForgery(house: House, trick: Extract<Trick, { by: "delivery" }>): Promise<Verdict> {
  return inPlace(async (place) => {
    const stage = setUp(place, trick.world);
    const tree = join(place, "work");
    copy(stage.base, tree);
    putFiles(tree, trick.lie);
    const accepted = await accept(house, place, stage, tree);
    const digest = await requestDigest(house, place, stage.request);
    const parcel = parcelOf(stage, trick.lie, accepted, digest, checklistOf(trick.world));
    trick.forge(parcel);
    const verified = await verify(house, place, stage, await pack(house, place, parcel), trick.rerun);
    const believed = verified.status === 0;
    return { believed, yes: believed ? ["verify"] : [], said: tail(accepted.ran, "accept") + tail(verified, "verify") };
  });
}

/** The agents of a run: one shell script that asks which role it plays. */
function agentScript({ engineer, tester = "true", reviewer = "", architect = "echo try again" }: Run["cast"], prepared: string): string {
  const said = reviewer === "" ? PASSES_ALL : reviewer;
  const work = `cp -a "${prepared}/." . 2>/dev/null; while read -r gone; do rm -rf -- "$gone"; done < "${prepared}.gone"`;
  return [
    'PROMPT="$(cat)"',
    `work() { ${work}; }`,
    'case "$NEXUS_ROLE" in',
    `engineer) ${engineer}\n;;`,
    `tester) ${tester}\n;;`,
    `reviewer) ${said}\n;;`,
    `*) ${architect}\n;;`,
    "esac",
    "",
  ].join("\n");
}

const PASSES_ALL = 'for n in 1 2 3 4 5 6 7 8 9; do echo "[passed] $n: files/ does what was asked"; done; echo "VERDICT: pass"';

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

export async function judge(house: House, trick: Trick): Promise<Verdict> {
  if (trick.by === "work") return judgeWork(house, trick.world, trick.lie);
  if (trick.by === "delivery") return judgeForgery(house, trick);
  return judgeRun(house, trick);
}

/** Honest work: both questions must be answered with yes. */
export async function judgeHonest(house: House, world: World, by: "work" | "run"): Promise<Verdict> {
  if (by === "run") return judgeRun(house, { world, lie: world.honest, cast: { engineer: "work" } });
  return judgeWork(house, world, world.honest);
}
export const wanted = (by: "work" | "run"): Verdict["yes"] => (by === "run" ? ["run", "verify"] : ["accept", "verify"]);
