// What a run costs beside the programs it drives: examples/2-feature with the real programs on a scripted model, against the
// same sessions (same words, same answers) of the program alone, without sandbox, servers or roles. Acceptance is left out on
// both sides: bench/acceptance.bench.ts has it. A model that answers at once makes both sides short: what a run costs once
// (from its start to the first session, after the last) is told apart from what each session costs.
// Programs do more in a home they have never been in (databases, skills, settings). In a run every session has a new one, which
// is a wall and no accident, so the peer is measured both ways: in one home, where all but its first session are spared that, and
// in a new home each time, which leaves what is our own doing. The limit is for the first.
// Run: npx tsx bench/agents.bench.ts [codex claude opencode]
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Client, clientProgram } from "../tests/hosts/clients.js";
import { type Reply, type Rule, scriptedModel } from "../tests/hosts/scripted-model/server.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const example = join(root, "examples/2-feature");
const rounds = Number(process.env.ROUNDS ?? 3);
const LIMIT = 1.3;

interface Edit {
  readonly path: string;
  readonly content?: string;
  readonly find?: string;
  readonly replace?: string;
}
const script = JSON.parse(readFileSync(join(example, "context/demo-agent.json"), "utf8")) as {
  plan: { tasks: { title: string; owner: string }[] };
  work: Record<string, { edits?: Edit[] }[]>;
};
const TASKS = script.plan.tasks;

type Name = "codex" | "claude" | "opencode";
interface Program {
  settings(url: string): Record<string, string>;
  env(url: string): Record<string, string>;
  readonly shell: (command: string) => Reply;
  /** The last words, with and without a shape that was asked for. */
  readonly report: (fields: Record<string, unknown>) => Reply;
  args(cwd: string): string[];
}

const PROGRAMS: Readonly<Record<Name, Program>> = {
  codex: {
    settings: (url) => ({
      ".codex/config.toml": [
        'model = "scripted"\nmodel_provider = "s"\nanalytics = { enabled = false }\n[model_providers.s]\nname = "s"',
        `base_url = "${url}/v1"\nwire_api = "responses"\nsupports_websockets = false`,
      ].join("\n"),
    }),
    env: () => ({}),
    shell: (cmd) => ({ unoffered: "exec_command", args: { cmd } }),
    report: (fields) => JSON.stringify(fields),
    args: (cwd) => ["exec", "--json", "--skip-git-repo-check", "-s", "danger-full-access", "-C", cwd, "-"],
  },
  claude: {
    settings: () => ({}),
    env: (url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "none",
      ANTHROPIC_MODEL: "scripted",
      DISABLE_TELEMETRY: "1",
      DISABLE_AUTOUPDATER: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    }),
    shell: (command) => ({ unoffered: "Bash", args: { command, description: "d" } }),
    report: (fields) => ({ tool: /^StructuredOutput$/, args: fields }),
    args: () => ["-p", "--output-format", "stream-json", "--verbose", "--allowedTools", "Bash"],
  },
  opencode: {
    settings: (url) => ({
      ".config/opencode/opencode.json": JSON.stringify({
        model: "s/m",
        provider: {
          s: {
            npm: "@ai-sdk/openai-compatible",
            options: { baseURL: `${url}/v1`, apiKey: "none" },
            models: { m: { name: "m" } },
          },
        },
      }),
      ...Object.fromEntries(
        [".config/opencode", ".opencode"].flatMap((folder) => [
          [`${folder}/package.json`, "{}"],
          [`${folder}/package-lock.json`, "{}"],
          [`${folder}/bun.lock`, ""],
          [
            `${folder}/node_modules/@opencode-ai/plugin/package.json`,
            '{"name":"@opencode-ai/plugin","version":"0.0.0"}',
          ],
        ]),
      ),
    }),
    env: () => ({
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
      OPENCODE_DISABLE_SHARE: "1",
    }),
    shell: (command) => ({ unoffered: "bash", args: { command, description: "d" } }),
    report: () => "It is done.",
    args: (cwd) => ["run", "--format", "json", "--dir", cwd],
  },
};

/** The work of a task as one command: the example's last try, which is right. */
function commandOf(title: string): string {
  const files = new Map<string, string>();
  for (const { path, content, find = "", replace = "" } of script.work[title]?.at(-1)?.edits ?? []) {
    const before = files.get(path) ?? (content === undefined ? readFileSync(join(example, path), "utf8") : "");
    files.set(path, content ?? before.replace(find, () => replace));
  }
  const writes = [...files].map(
    ([path, text]) => `printf %s ${Buffer.from(text).toString("base64")} | base64 -d > ${path}`,
  );
  return writes.join(" && ");
}

const FIELDS = { summary: "done", decisions: [], issues: [] };

/** One rule per turn: work, then the last words. A task is known by its title. */
function rulesFor({ shell, report }: Program): Rule[] {
  return TASKS.flatMap(({ title, owner }): Rule[] => {
    const when = { any: new RegExp(`TASK: ${title}`) };
    const fields = owner === "reviewer" ? { ...FIELDS, verdict: "pass", items: [] } : FIELDS;
    const last: Rule = { name: `${title}: report`, when, times: 1, reply: [report(fields)] };
    return owner === "reviewer" ? [last] : [{ name: title, when, times: 1, reply: [shell(commandOf(title))] }, last];
  });
}

const put = (folder: string, files: Readonly<Record<string, string>>) => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
};

function timed(program: string, args: readonly string[], cwd: string, env: Record<string, string>, input = "") {
  const started = performance.now();
  return new Promise<{ ms: number; code: number | null; out: string }>((resolve) => {
    const child = spawn(program, args, { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
    let out = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (out += data));
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    child.on("close", (code) => resolve({ ms: performance.now() - started, code, out }));
  });
}

interface Round {
  /** Everything but acceptance. */
  readonly run: number;
  /** The sessions in it, from their home to the end of their program. */
  readonly inside: number;
  /** To the first session, and from the last one on. */
  readonly before: number;
  readonly after: number;
  /** The programs alone, in one home. */
  readonly own: number;
  /** The same with a new home for every session. */
  readonly ownNew: number;
  readonly sessions: number;
}

async function round(name: Name, path: string): Promise<Round> {
  const program = PROGRAMS[name];
  const folder = mkdtempSync("/var/tmp/nut-bench-agents-");
  const inWords = () => rulesFor({ ...program, report: () => "It is done." });
  const model = await scriptedModel([...rulesFor(program), ...inWords(), ...inWords()]);
  try {
    const [home, cwd] = [join(folder, "home"), join(folder, "project")];
    put(home, program.settings(model.url));
    mkdirSync(cwd);
    const plan = join(folder, "plan.json");
    writeFileSync(plan, JSON.stringify({ tasks: TASKS.map(({ title, owner }) => ({ title, owner })) }));
    const env = {
      PATH: `${dirname(path)}:${process.env.PATH}`,
      HOME: home,
      LANG: "C.UTF-8",
      NUTCRACKER_CONSENT: "all",
      ...program.env(model.url),
    };
    const nexus = [join(root, "bin/nexus.js"), "run", example, "--driver", name, "--plan", plan, "--jobs", "1"];
    const started = Date.now();
    const ran = await timed(process.execPath, [...nexus, "-y", "-o", "out.nut"], cwd, env);
    const runs = join(cwd, ".nexus/state/nutcracker/runs");
    const one = join(runs, readdirSync(runs)[0]!);
    const journal = readFileSync(join(one, "journal.jsonl"), "utf8").trim().split("\n");
    const records = journal.map((line) => JSON.parse(line) as { at: string; type: string; ms?: number });
    const agents = readdirSync(join(one, "agents"));
    if (agents.length !== TASKS.length || records.every(({ type }) => type !== "delivered"))
      throw new Error(`${name}: ${agents.join(", ")}; exit ${ran.code}: ${ran.out.slice(-1_000)}`);
    const accepting = records.map(({ at, type }, i) =>
      type === "accepted" ? Date.parse(at) - Date.parse(records[i - 1]!.at) : 0,
    );
    const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0);
    const run = ran.ms - sum(accepting);
    const begun = Date.parse(records.find(({ type }) => type === "agent_started")!.at);
    const last = records.findLastIndex(({ type }) => type === "agent_ended");
    const before = begun - started;
    const after = started + ran.ms - Date.parse(records[last]!.at) - sum(accepting.slice(last));
    const inside = sum(records.flatMap(({ type, ms }) => (type === "agent_ended" ? [ms ?? 0] : [])));
    const alone = { own: 0, ownNew: 0 };
    for (const agent of agents.sort((a, b) => Number(a.split("-").at(-1)) - Number(b.split("-").at(-1)))) {
      const prompt = readFileSync(join(one, "agents", agent, "prompt.md"), "utf8");
      for (const which of ["own", "ownNew"] as const) {
        const slot = mkdtempSync(join(folder, "alone-"));
        cpSync(example, slot, { recursive: true });
        const newHome = mkdtempSync(join(folder, "home-"));
        put(newHome, program.settings(model.url));
        const HOME = which === "own" ? home : newHome;
        const { ms, code, out } = await timed(path, program.args(slot), slot, { ...env, HOME }, prompt);
        if (code !== 0) throw new Error(`${name} alone: exit ${code}: ${out.slice(-1_000)}`);
        alone[which] += ms;
      }
    }
    return { run, inside, before, after, ...alone, sessions: agents.length };
  } finally {
    await model.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`;
const names = process.argv.slice(2).filter((word): word is Name => word in PROGRAMS);
for (const name of names.length > 0 ? names : (["codex", "claude", "opencode"] as const)) {
  const path = clientProgram(name as Client);
  if (path === null) {
    console.log(`${name}: cannot be had here`);
    continue;
  }
  const results: Round[] = [];
  for (let i = 0; i < rounds; i += 1) results.push(await round(name, path));
  const of = (value: (one: Round) => number) => median(results.map(value));
  const ratio = of(({ run, own }) => run / own).toFixed(2);
  const ratioNew = of(({ run, ownNew }) => run / ownNew).toFixed(2);
  const each = of(({ inside, own }) => inside / own).toFixed(2);
  const more = of(({ inside, own, sessions }) => (inside - own) / sessions);
  const moreNew = of(({ inside, ownNew, sessions }) => (inside - ownNew) / sessions);
  const once = `${seconds(of(({ before }) => before))} before them, ${seconds(of(({ after }) => after))} after`;
  console.log(
    [
      `${name}: run ${seconds(of(({ run }) => run))}, alone ${seconds(of(({ own }) => own))}, ratio ${ratio} (≤ ${LIMIT})`,
      `in new homes ${seconds(of(({ ownNew }) => ownNew))}, ratio ${ratioNew}`,
      `sessions ${seconds(of(({ inside }) => inside))}, ratio ${each}, ${seconds(more)} more each (${seconds(moreNew)} than in new homes)`,
      once,
    ].join("; "),
  );
}
