// What a run costs beside the programs it drives: examples/2-feature with the real programs on a scripted model that answers at once.
// Acceptance is left out: bench/acceptance.bench.ts has it. "The same sessions" can be read in three ways, and each is a peer:
//   in one home    the program alone, with the same words and answers, as a person starts it: without sandbox, servers or roles, in a
//                  home it has been in before. The limit is for this one.
//   in new homes   the same in a home it has never been in, where programs do more (databases, skills, settings). In a run every
//                  session has a new home, which is a wall and no accident.
//   bare           the very sessions of the run (role, tools, shape of the report, prompt, new home), started directly: what is left
//                  is our own start and end, the sandbox, and what we do between sessions. See same-sessions.ts.
// What a run costs once (from its start to the first session, after the last) is told apart from what each session costs.
// Run: npx tsx bench/agents.bench.ts [codex claude opencode]
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { pastLauncher } from "../src/drivers/codex-launcher.js";
import { type Client, clientProgram } from "../tests/hosts/clients.js";
import { type Reply, type Rule, scriptedModel } from "../tests/hosts/scripted-model/server.js";
import { type NotedSession, noteSessions, replay, timed } from "./same-sessions.js";

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
  /** The run's own sessions, replayed bare. */
  readonly bare: number;
  readonly sessions: number;
}

interface Noted {
  readonly url: string;
  readonly sessions: readonly NotedSession[];
}

/** One run, which is not timed, tells with what the program is started. */
async function note(name: Name, path: string): Promise<Noted> {
  const program = PROGRAMS[name];
  const folder = mkdtempSync("/var/tmp/nut-bench-agents-");
  const model = await scriptedModel(rulesFor(program));
  const notes = await noteSessions(name, path, folder);
  try {
    await oneRun(name, { folder, url: model.url, path: `${notes.folder}:${dirname(path)}` });
    if (notes.sessions.length !== TASKS.length) throw new Error(`${name}: ${notes.sessions.length} sessions noted`);
    return { url: model.url, sessions: notes.sessions };
  } finally {
    await notes.close();
    await model.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Place {
  readonly folder: string;
  readonly url: string;
  /** What stands first on PATH. */
  readonly path: string;
}

async function oneRun(name: Name, { folder, url, path }: Place) {
  const program = PROGRAMS[name];
  const [home, cwd, plan] = [join(folder, "home"), join(folder, "project"), join(folder, "plan.json")];
  put(home, program.settings(url));
  mkdirSync(cwd);
  writeFileSync(plan, JSON.stringify({ tasks: TASKS.map(({ title, owner }) => ({ title, owner })) }));
  const env = {
    PATH: `${path}:${process.env.PATH}`,
    HOME: home,
    LANG: "C.UTF-8",
    NUTCRACKER_CONSENT: "all",
    ...program.env(url),
  };
  const nexus = [join(root, "bin/nexus.js"), "run", example, "--driver", name, "--plan", plan, "--jobs", "1"];
  const begunMs = Date.now();
  const ran = await timed(process.execPath, [...nexus, "-y", "-o", "out.nut"], cwd, env);
  const runs = join(cwd, ".nexus/state/nutcracker/runs");
  const one = join(runs, readdirSync(runs)[0]!);
  const journal = readFileSync(join(one, "journal.jsonl"), "utf8").trim().split("\n");
  const records = journal.map((line) => JSON.parse(line) as { at: string; type: string; ms?: number });
  const agents = readdirSync(join(one, "agents"));
  if (agents.length !== TASKS.length || records.every(({ type }) => type !== "delivered"))
    throw new Error(`${name}: ${agents.join(", ")}; exit ${ran.code}: ${ran.out.slice(-1_000)}`);
  const inOrder = agents.sort((a, b) => Number(a.split("-").at(-1)) - Number(b.split("-").at(-1)));
  const prompts = inOrder.map((agent) => readFileSync(join(one, "agents", agent, "prompt.md"), "utf8"));
  return { home, env, begunMs, ms: ran.ms, records, prompts };
}

async function round(name: Name, path: string, noted: Noted): Promise<Round> {
  const program = PROGRAMS[name];
  const folder = mkdtempSync("/var/tmp/nut-bench-agents-");
  const inWords = () => rulesFor({ ...program, report: () => "It is done." });
  // The run's, the replay's, and two of the program alone; each task uses its rules in this order.
  const model = await scriptedModel([...rulesFor(program), ...rulesFor(program), ...inWords(), ...inWords()]);
  try {
    const { home, env, begunMs, ms, records, prompts } = await oneRun(name, {
      folder,
      url: model.url,
      path: dirname(path),
    });
    const accepting = records.map(({ at, type }, i) =>
      type === "accepted" ? Date.parse(at) - Date.parse(records[i - 1]!.at) : 0,
    );
    const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0);
    const run = ms - sum(accepting);
    const begun = Date.parse(records.find(({ type }) => type === "agent_started")!.at);
    const last = records.findLastIndex(({ type }) => type === "agent_ended");
    const before = begun - begunMs;
    const after = begunMs + ms - Date.parse(records[last]!.at) - sum(accepting.slice(last));
    const inside = sum(records.flatMap(({ type, ms }) => (type === "agent_ended" ? [ms ?? 0] : [])));
    const names = new Map([[noted.url, model.url]]);
    // What a run starts, which for Codex is not npm's launcher.
    const started = name === "codex" ? pastLauncher(path) : { command: path, env: {} };
    const alone = { own: 0, ownNew: 0, bare: 0 };
    for (const [index, prompt] of prompts.entries()) {
      alone.bare += await replay(started, noted.sessions[index]!, names, folder);
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
    const strays = model.used().filter((rule) => rule === "otherwise");
    if (strays.length > 0) throw new Error(`${name}: ${strays.length} questions nobody scripted an answer for`);
    return { run, inside, before, after, ...alone, sessions: prompts.length };
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
  const noted = await note(name, path);
  for (let i = 0; i < rounds; i += 1) results.push(await round(name, path, noted));
  const of = (value: (one: Round) => number) => median(results.map(value));
  const against = (what: string, peer: (one: Round) => number, more = "") => {
    const ratio = of((one) => one.run / peer(one)).toFixed(2);
    const inside = of((one) => one.inside / peer(one)).toFixed(2);
    const each = of((one) => (one.inside - peer(one)) / one.sessions);
    console.log(
      `  ${what}: ${seconds(of(peer))}, ratio ${ratio}${more}; sessions alone ${inside}, ${seconds(each)} more each`,
    );
  };
  const once = `${seconds(of(({ before }) => before))} before them, ${seconds(of(({ after }) => after))} after`;
  console.log(
    `${name}: run ${seconds(of(({ run }) => run))}, sessions ${seconds(of(({ inside }) => inside))}, ${once}`,
  );
  against("the program alone, in one home", ({ own }) => own, ` (≤ ${LIMIT})`);
  against("the program alone, in new homes", ({ ownNew }) => ownNew);
  against("the run's own sessions, bare", ({ bare }) => bare);
}
